import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { type Answer, emptyAnswer, xmlAnswer } from '../answer.ts'
import { missingKey, type Perform } from '../call.ts'
import type { OpenObject } from '../object-files.ts'
import { encryptionHeaders, headersToKeep, objectHeaders, tagsOf, wantsChecksum } from '../object-metadata.ts'
import { requiresAbsence, type S3Request } from '../request.ts'
import { S3Error } from '../s3-error.ts'
import { childText, readXml, type XmlElement } from '../xml.ts'

export const putObject: Perform = async ({ request, body, storage }) => {
  const { key } = request
  const ifAbsent = requiresAbsence(request.headers)
  if (ifAbsent && (await storage.objects.find(key))) throw new S3Error('PreconditionFailed')
  const staged = await storage.staging.write(body.bytes())
  const { md5, crc32 } = body.measured
  const checksum = { value: crc32ToBase64(crc32), type: 'FULL_OBJECT' as const }
  const headers = headersToKeep(request.headers)
  const etag = `"${md5}"`
  await storage.objects.publish(staged, { key, etag, crc32, checksum, headers }, { ifAbsent })
  return emptyAnswer(200, {
    etag,
    'x-amz-checksum-crc32': checksum.value,
    'x-amz-checksum-type': checksum.type,
    ...encryptionHeaders(headers),
  })
}

export const getObject: Perform = async (call) => {
  const opened = await call.storage.objects.open(call.request.key)
  if (!opened) throw missingKey(call)
  try {
    return answerWith(opened, call.request)
  } catch (error) {
    await opened.file.close()
    throw error
  }
}

function answerWith({ metadata, file }: OpenObject, { headers, query }: S3Request): Answer {
  const range = readRange(headers.range, metadata.size)
  const all = {
    ...objectHeaders(metadata, { checksum: !range && wantsChecksum(headers) }),
    ...rangeHeaders(range, metadata.size),
    ...overrides(query),
  }
  const { first, last } = range ?? { first: 0, last: Math.max(0, metadata.size - 1) }
  // The stream closes the file, whether it is read to its end or not.
  const body = file.createReadStream({ start: first, end: last, highWaterMark: 2 ** 18 })
  return { status: range ? 206 : 200, headers: all, body }
}

/** `response-content-type` and related parameters, as in a presigned download link. */
function overrides(query: URLSearchParams): Record<string, string> {
  const named = [...query].filter(([name]) => name.startsWith('response-'))
  return Object.fromEntries(named.map(([name, value]) => [name.slice('response-'.length), value]))
}

export interface ByteRange {
  first: number
  /** Inclusive. */
  last: number
}

/** RFC 9110, 14.2: one range of bytes. Several ranges, or an invalid one, mean the entire object. */
export function readRange(header: string | undefined, size: number): ByteRange | undefined {
  const [, from, to] = /^bytes=(\d{0,16})-(\d{0,16})$/.exec(header ?? '') ?? []
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (first > last) throw new S3Error('InvalidRange', undefined, { ActualObjectSize: String(size) })
  return { first, last }
}

export function rangeHeaders(range: ByteRange | undefined, size: number): Record<string, string> {
  if (!range) return {}
  const { first, last } = range
  return { 'content-range': `bytes ${first}-${last}/${size}`, 'content-length': String(last - first + 1) }
}

export const headObject: Perform = async (call) => {
  const { headers } = call.request
  const metadata = await call.storage.objects.find(call.request.key)
  if (!metadata) throw missingKey(call)
  const range = readRange(headers.range, metadata.size)
  const whole = objectHeaders(metadata, { checksum: !range && wantsChecksum(headers) })
  return emptyAnswer(range ? 206 : 200, { ...whole, ...rangeHeaders(range, metadata.size) })
}

/** As in S3, deleting a missing object succeeds. */
export const deleteObject: Perform = async ({ request, storage }) => {
  await storage.objects.remove(request.key)
  return emptyAnswer(204)
}

const MAX_XML_BYTES = 2 ** 20
const MAX_KEYS = 1000

export const deleteObjects: Perform = async ({ body, storage }) => {
  const { keys, quiet } = readKeys(await body.text(MAX_XML_BYTES))
  for (const key of keys) await storage.objects.remove(key)
  const deleted = keys.map((key): XmlElement => ['Deleted', [['Key', key]]])
  return xmlAnswer(['DeleteResult', quiet ? [] : deleted])
}

function readKeys(body: string): { keys: string[]; quiet: boolean } {
  const root = readXml(body)
  const objects = root.children.filter(({ name }) => name === 'Object')
  if (root.name !== 'Delete' || objects.length === 0 || objects.length > MAX_KEYS)
    throw new S3Error('MalformedXML')
  const keys = objects.map((object) => {
    if (childText(object, 'VersionId'))
      throw new S3Error('NotImplemented', 'This bucket does not support versioning.')
    return childText(object, 'Key') || malformed()
  })
  return { keys, quiet: childText(root, 'Quiet') === 'true' }
}

function malformed(): never {
  throw new S3Error('MalformedXML')
}

export const getObjectTagging: Perform = async (call) => {
  const metadata = await call.storage.objects.find(call.request.key)
  if (!metadata) throw missingKey(call)
  const elements = tagsOf(metadata.headers).map(
    ([key, value]): XmlElement => [
      'Tag',
      [
        ['Key', key],
        ['Value', value],
      ],
    ],
  )
  return xmlAnswer(['Tagging', [['TagSet', elements]]])
}

export const headBucket: Perform = async () => emptyAnswer(200)
