import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { emptyAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { partNumberOf } from '../part-number.ts'
import { S3Error } from '../s3-error.ts'
import { encryptionHeaders } from '../stored-headers.ts'

export const uploadPart: Perform = async ({ request, body, storage }) => {
  const number = partNumberOf(request)
  const upload = await storage.uploads.find(request.query.get('uploadId')!, request.key)
  const staged = await storage.staging.write(body.bytes())
  if (upload.checksumType && body.declaredCrc32 === undefined) {
    await storage.staging.discard(staged)
    const message =
      'Checksum Type mismatch occurred, expected checksum Type: crc32, actual checksum Type: null'
    throw new S3Error('InvalidRequest', message)
  }
  await storage.uploads.addPart(upload.id, number, staged, body.measured)
  const { md5, crc32 } = body.measured
  return emptyAnswer(200, {
    etag: `"${md5}"`,
    'x-amz-checksum-crc32': crc32ToBase64(crc32),
    ...encryptionHeaders(upload.headers),
  })
}
