import { xmlAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import type { ChecksumType } from '../object-metadata.ts'
import { S3Error } from '../s3-error.ts'
import { encryptionHeaders, headersToKeep } from '../stored-headers.ts'

export const createMultipartUpload: Perform = async ({ request, storage }) => {
  const { bucket, key } = request
  const checksumType = readChecksumType(request.headers)
  await storage.objects.requireRoom(key)
  const headers = headersToKeep(request.headers)
  const upload = await storage.uploads.create({ key, headers, checksumType })
  return xmlAnswer(
    [
      'InitiateMultipartUploadResult',
      [
        ['Bucket', bucket],
        ['Key', key],
        ['UploadId', upload.id],
      ],
    ],
    {
      ...encryptionHeaders(headers),
      ...(checksumType && { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': checksumType }),
    },
  )
}

/** With CRC32 and no type, S3 takes the checksum of the checksums. */
function readChecksumType(headers: Record<string, string>): ChecksumType | undefined {
  const algorithm = headers['x-amz-checksum-algorithm']
  const type = headers['x-amz-checksum-type']
  if (algorithm === undefined) {
    if (type === undefined) return undefined
    throw new S3Error('InvalidRequest', 'The x-amz-checksum-type header needs x-amz-checksum-algorithm.')
  }
  if (algorithm !== 'CRC32')
    throw new S3Error('NotImplemented', 'This bucket verifies CRC32 and no other algorithm.')
  if (type === undefined || type === 'COMPOSITE') return 'COMPOSITE'
  if (type === 'FULL_OBJECT') return type
  throw new S3Error('InvalidRequest', 'Value for x-amz-checksum-type header is invalid.')
}
