import type { IncomingHttpHeaders } from 'node:http'
import { S3Error } from './s3-error.ts'

const MAX_KEY_BYTES = 1024

/** Determines a method's operation from its target and the relevant query parameters. First match wins. */
const ROUTES = [
  { operation: 'HeadBucket', on: 'bucket', method: 'HEAD', needs: [], takes: [] },
  {
    operation: 'ListMultipartUploads',
    on: 'bucket',
    method: 'GET',
    needs: ['uploads'],
    takes: ['prefix', 'delimiter', 'max-uploads', 'key-marker', 'upload-id-marker', 'encoding-type'],
  },
  {
    operation: 'ListObjectsV2',
    on: 'bucket',
    method: 'GET',
    needs: ['list-type'],
    takes: [
      'prefix',
      'delimiter',
      'max-keys',
      'continuation-token',
      'start-after',
      'encoding-type',
      'fetch-owner',
    ],
  },
  { operation: 'DeleteObjects', on: 'bucket', method: 'POST', needs: ['delete'], takes: [] },
  { operation: 'UploadPart', on: 'key', method: 'PUT', needs: ['partNumber', 'uploadId'], takes: [] },
  { operation: 'PutObject', on: 'key', method: 'PUT', needs: [], takes: [] },
  { operation: 'CreateMultipartUpload', on: 'key', method: 'POST', needs: ['uploads'], takes: [] },
  { operation: 'CompleteMultipartUpload', on: 'key', method: 'POST', needs: ['uploadId'], takes: [] },
  { operation: 'AbortMultipartUpload', on: 'key', method: 'DELETE', needs: ['uploadId'], takes: [] },
  { operation: 'DeleteObject', on: 'key', method: 'DELETE', needs: [], takes: [] },
  {
    operation: 'ListParts',
    on: 'key',
    method: 'GET',
    needs: ['uploadId'],
    takes: ['max-parts', 'part-number-marker', 'encoding-type'],
  },
  {
    operation: 'GetObject',
    on: 'key',
    method: 'GET',
    needs: [],
    takes: ['response-content-type', 'response-content-disposition', 'response-cache-control'],
  },
  { operation: 'GetObjectTagging', on: 'key', method: 'GET', needs: ['tagging'], takes: [] },
  { operation: 'HeadObject', on: 'key', method: 'HEAD', needs: [], takes: [] },
] as const

export type Operation = (typeof ROUTES)[number]['operation'] | 'UploadPartCopy'

export interface S3Request {
  operation: Operation
  method: string
  /** Exactly as in the request line, because the client signed it in that form. */
  path: string
  query: URLSearchParams
  headers: Record<string, string>
  bucket: string
  /** Empty for operations on a bucket. */
  key: string
}

export function readRequest(method: string, url: string, rawHeaders: IncomingHttpHeaders): S3Request {
  const [path, search] = splitOnce(url, '?')
  const query = new URLSearchParams(search)
  const headers = { ...hoistedHeaders(query), ...flatHeaders(rawHeaders) }
  const { bucket, key } = readAddress(path, headers.host ?? '')
  if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new S3Error('KeyTooLongError')
  const operation = chooseOperation(method, key === '' ? 'bucket' : 'key', query, headers)
  return { operation, method, path, query, headers, bucket, key }
}

function chooseOperation(
  method: string,
  on: 'bucket' | 'key',
  query: URLSearchParams,
  headers: Record<string, string>,
): Operation {
  const route = ROUTES.find((candidate) => {
    const known: readonly string[] = [...candidate.needs, ...candidate.takes]
    return (
      candidate.method === method &&
      candidate.on === on &&
      candidate.needs.every((name) => query.has(name)) &&
      [...query.keys()].every((name) => known.includes(name) || name === 'x-id' || /^x-amz-/i.test(name))
    )
  })
  const copies = headers['x-amz-copy-source'] !== undefined
  if (route?.operation === 'UploadPart' && copies) return 'UploadPartCopy'
  if (!route || copies) throw new S3Error('NotImplemented')
  return route.operation
}

/** Host names that always refer to this machine, however they are resolved. */
const VIRTUAL_HOST = /^([^:]+)\.(?:localhost|s3[.-](?:[a-z0-9-]+\.)*amazonaws\.(?:com|com\.cn|eu))(?::\d+)?$/

/** Path style, or virtual-host style if the host is `<bucket>.localhost`, or an AWS host. */
function readAddress(path: string, host: string): { bucket: string; key: string } {
  const decoded = decodePath(path.slice(1))
  const virtual = VIRTUAL_HOST.exec(host)
  if (virtual) return { bucket: virtual[1]!, key: decoded }
  const [bucket, key] = splitOnce(decoded, '/')
  return { bucket, key }
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new S3Error('InvalidURI')
  }
}

/** A presigned URL has its `x-amz-` headers in its query, where S3 accepts them as well. */
function hoistedHeaders(query: URLSearchParams): Record<string, string> {
  if (!query.has('X-Amz-Signature')) return {}
  const named = [...query].map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(named.filter(([name]) => name.startsWith('x-amz-')))
}

function flatHeaders(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + separator.length)]
}

/** `x-amz-copy-source`: an object's bucket and key, encoded. */
export function readCopySource(header: string): { bucket: string; key: string } {
  const [path, version] = header.split('?')
  if (version !== undefined) throw new S3Error('NotImplemented', 'This bucket does not support versioning.')
  const [, bucket, key] = /^\/?([^/]+)\/(.+)$/s.exec(decode(path!)) ?? []
  if (!bucket || !key)
    throw new S3Error('InvalidArgument', 'Copy Source must mention the source bucket and key')
  return { bucket, key }
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    throw new S3Error('InvalidURI')
  }
}

/** On a write, this bucket supports `If-None-Match: *` and rejects any other condition. */
export function requiresAbsence(headers: Record<string, string>): boolean {
  if (headers['if-match'] !== undefined)
    throw new S3Error('NotImplemented', 'If-Match on a write is not implemented.')
  const condition = headers['if-none-match']
  if (condition !== undefined && condition !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match on a write must be *.')
  }
  return condition === '*'
}

const MAX_PART_NUMBER = 10_000

export function partNumberOf({ query }: S3Request): number {
  return requirePartNumber(query.get('partNumber') ?? '')
}

export function requirePartNumber(text: string): number {
  const number = /^\d{1,6}$/.test(text) ? Number(text) : 0
  if (number < 1 || number > MAX_PART_NUMBER) {
    throw new S3Error('InvalidArgument', 'Part number must be an integer between 1 and 10000, inclusive', {
      ArgumentName: 'partNumber',
      ArgumentValue: text,
    })
  }
  return number
}
