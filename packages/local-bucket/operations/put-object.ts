import { crc32ToBase64 } from '../../../lib/platform/kernel/crc32.ts'
import { emptyAnswer } from '../answer.ts'
import type { Perform } from '../call.ts'
import { requiresAbsence } from '../preconditions.ts'
import { S3Error } from '../s3-error.ts'
import { encryptionHeaders, headersToKeep } from '../stored-headers.ts'

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
