import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { compareKeys } from '../list-keys.ts'
import { listingEncoder, readLimit } from '../listing.ts'
import { S3Error } from '../s3-error.ts'
import type { Upload } from '../upload-files.ts'
import type { XmlElement } from '../xml.ts'

export const listMultipartUploads: Perform = async ({ request, storage }) => {
  const { query, bucket } = request
  if (query.get('delimiter'))
    throw new S3Error('NotImplemented', 'ListMultipartUploads takes no delimiter here.')
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
      ...page.map((upload): XmlElement => ['Upload', describe(upload, encode)]),
    ],
  ])
}

/** By key; those of one key by age. */
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

function describe(upload: Upload, encode: (text: string) => string): XmlElement[] {
  return [
    ['Key', encode(upload.key)],
    ['UploadId', upload.id],
    ['StorageClass', upload.headers['x-amz-storage-class'] ?? 'STANDARD'],
    ['Initiated', new Date(upload.initiatedMs).toISOString()],
  ]
}
