import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { compareKeys } from '../key-path.ts'
import type { ObjectMetadata } from '../object-metadata.ts'
import { S3Error } from '../s3-error.ts'
import type { BucketStorage } from '../storage.ts'
import type { StoredPart, Upload } from '../upload-files.ts'
import type { XmlElement } from '../xml.ts'

interface Page {
  objects: ObjectMetadata[]
  commonPrefixes: string[]
  /** The page's last key or common prefix, if more follow. */
  next: string | undefined
}

export const listObjectsV2: Perform = async ({ request, storage }) => {
  const { query, bucket } = request
  const [prefix, delimiter] = [query.get('prefix') ?? '', query.get('delimiter') ?? '']
  const token = query.get('continuation-token')
  const after = token === null ? (query.get('start-after') ?? '') : readToken(token)
  const limit = readLimit(query, 'max-keys')
  const page = await readPage(storage, { prefix, delimiter, after, limit })
  const encode = listingEncoder(query)
  const contents = page.objects.map((metadata): XmlElement => ['Contents', describeObject(metadata, encode)])
  const folders = page.commonPrefixes.map(
    (text): XmlElement => ['CommonPrefixes', [['Prefix', encode(text)]]],
  )
  return xmlAnswer([
    'ListBucketResult',
    [
      ['Name', bucket],
      ['Prefix', encode(prefix)],
      delimiter ? ['Delimiter', encode(delimiter)] : undefined,
      ['MaxKeys', limit],
      ['KeyCount', page.objects.length + page.commonPrefixes.length],
      ['IsTruncated', page.next !== undefined],
      token === null ? undefined : ['ContinuationToken', token],
      page.next === undefined
        ? undefined
        : ['NextContinuationToken', Buffer.from(page.next).toString('base64url')],
      query.has('start-after') ? ['StartAfter', encode(query.get('start-after')!)] : undefined,
      query.has('encoding-type') ? ['EncodingType', 'url'] : undefined,
      ...contents,
      ...folders,
    ],
  ])
}

async function readPage(
  { objects }: BucketStorage,
  options: { prefix: string; delimiter: string; after: string; limit: number },
): Promise<Page> {
  const { prefix, delimiter, after, limit } = options
  const page: Page = { objects: [], commonPrefixes: [], next: undefined }
  let last = after
  for await (const key of objects.keys({ prefix, after })) {
    const folder = commonPrefix(key, prefix, delimiter)
    if (folder !== undefined && (folder === page.commonPrefixes.at(-1) || folder === after)) continue
    const isFull = page.objects.length + page.commonPrefixes.length >= limit
    if (isFull) return { ...page, next: limit === 0 ? undefined : last }
    if (folder === undefined) {
      const metadata = await objects.find(key)
      if (metadata) page.objects.push(metadata)
    } else page.commonPrefixes.push(folder)
    last = folder ?? key
  }
  return page
}

function commonPrefix(key: string, prefix: string, delimiter: string): string | undefined {
  const end = delimiter === '' ? -1 : key.indexOf(delimiter, prefix.length)
  return end < 0 ? undefined : key.slice(0, end + delimiter.length)
}

function describeObject(metadata: ObjectMetadata, encode: (text: string) => string): XmlElement[] {
  return [
    ['Key', encode(metadata.key)],
    ['LastModified', new Date(metadata.lastModifiedMs).toISOString()],
    ['ETag', metadata.etag],
    ['ChecksumAlgorithm', 'CRC32'],
    ['ChecksumType', metadata.checksum.type],
    ['Size', metadata.size],
    ['StorageClass', metadata.headers['x-amz-storage-class'] ?? 'STANDARD'],
  ]
}

function readToken(token: string): string {
  const after = Buffer.from(token, 'base64url').toString('utf8')
  if (after === '' || Buffer.from(after).toString('base64url') !== token) {
    throw new S3Error('InvalidArgument', 'The continuation token provided is incorrect')
  }
  return after
}

export const listMultipartUploads: Perform = async ({ request, storage }) => {
  const { query, bucket } = request
  if (query.get('delimiter'))
    throw new S3Error('NotImplemented', 'This bucket does not support a delimiter for ListMultipartUploads.')
  const prefix = query.get('prefix') ?? ''
  const limit = readLimit(query, 'max-uploads')
  const encode = listingEncoder(query)
  const uploads = (await storage.uploads.list())
    .filter(({ key }) => key.startsWith(prefix))
    .sort(compareUploads)
  const following = uploads.filter(isAfter(query.get('key-marker'), query.get('upload-id-marker')))
  const page = following.slice(0, limit)
  const next = following.length > page.length ? page.at(-1) : undefined
  return xmlAnswer([
    'ListMultipartUploadsResult',
    [
      ['Bucket', bucket],
      ['Prefix', encode(prefix)],
      ['MaxUploads', limit],
      ['IsTruncated', next !== undefined],
      next && ['NextKeyMarker', encode(next.key)],
      next && ['NextUploadIdMarker', next.id],
      query.has('encoding-type') ? ['EncodingType', 'url'] : undefined,
      ...page.map((upload): XmlElement => ['Upload', describeUpload(upload, encode)]),
    ],
  ])
}

/** Sorts uploads by key, and then by age. */
function compareUploads(a: Upload, b: Upload): number {
  return compareKeys(a.key, b.key) || a.initiatedMs - b.initiatedMs || compareKeys(a.id, b.id)
}

function isAfter(key: string | null, id: string | null) {
  let passed = id === null
  return (upload: Upload): boolean => {
    if (key === null) return true
    const order = compareKeys(upload.key, key)
    if (order !== 0 || !id) return order > 0
    const wasPassed = passed
    passed ||= upload.id === id
    return wasPassed
  }
}

function describeUpload(upload: Upload, encode: (text: string) => string): XmlElement[] {
  return [
    ['Key', encode(upload.key)],
    ['UploadId', upload.id],
    ['StorageClass', upload.headers['x-amz-storage-class'] ?? 'STANDARD'],
    ['Initiated', new Date(upload.initiatedMs).toISOString()],
  ]
}

export const listParts: Perform = async ({ request, storage }) => {
  const { query, bucket, key } = request
  const upload = await storage.uploads.find(query.get('uploadId')!, key)
  const limit = readLimit(query, 'max-parts')
  const after = Number(query.get('part-number-marker') ?? 0)
  const following = (await storage.uploads.parts(upload.id)).filter(({ number }) => number > after)
  const page = following.slice(0, limit)
  return xmlAnswer([
    'ListPartsResult',
    [
      ['Bucket', bucket],
      ['Key', key],
      ['UploadId', upload.id],
      ['PartNumberMarker', after],
      ['NextPartNumberMarker', page.at(-1)?.number ?? after],
      ['MaxParts', limit],
      ['IsTruncated', following.length > page.length],
      ...page.map((part): XmlElement => ['Part', describePart(part)]),
    ],
  ])
}

function describePart({ number, lastModifiedMs, md5, size, crc32 }: StoredPart): XmlElement[] {
  return [
    ['PartNumber', number],
    ['LastModified', new Date(lastModifiedMs).toISOString()],
    ['ETag', `"${md5}"`],
    ['Size', size],
    ['ChecksumCRC32', crc32ToBase64(crc32)],
  ]
}

const MAX_ENTRIES = 1000

/** How many entries a page may have: the number in the query, at most a thousand. */
export function readLimit(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? String(MAX_ENTRIES)
  if (!/^\d{1,10}$/.test(text)) throw new S3Error('InvalidArgument', `${name} is not a number`)
  return Math.min(Number(text), MAX_ENTRIES)
}

/** With `encoding-type=url`, keys are encoded, because XML cannot represent every character in a key. */
export function listingEncoder(query: URLSearchParams): (text: string) => string {
  if (!query.has('encoding-type')) return (text) => text
  return (text) => encodeURIComponent(text).replaceAll('%2F', '/')
}
