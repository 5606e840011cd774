import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { readLimit } from '../listing.ts'
import type { StoredPart } from '../part-file-name.ts'
import type { XmlElement } from '../xml.ts'

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
      ...page.map((part): XmlElement => ['Part', describe(part)]),
    ],
  ])
}

function describe({ number, lastModifiedMs, md5, size, crc32 }: StoredPart): XmlElement[] {
  return [
    ['PartNumber', number],
    ['LastModified', new Date(lastModifiedMs).toISOString()],
    ['ETag', `"${md5}"`],
    ['Size', size],
    ['ChecksumCRC32', crc32ToBase64(crc32)],
  ]
}
