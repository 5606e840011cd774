import { notNow, type SluiceError } from '../../platform/kernel/errors.ts'
import type { Appended } from '../../uploads/append.ts'
import type { Progress } from '../../uploads/opening/upload.ts'
import { resultHeader } from './decision.ts'
import type { UploadResponse } from './upload-request.ts'

/** The response once all bytes are durable: 201 if the object is in the bucket, 202 if the bucket or a decision takes longer. */
export function describeFile(
  { fileId, progress }: { fileId: string; progress: Pick<Progress, 'crc32' | 'lengthBytes'> },
  { offsetBytes, state, result }: Pick<Appended, 'offsetBytes' | 'state' | 'result'>,
  { filename, location }: { filename: string; location: string },
): UploadResponse {
  const isThere = state === 'transferred'
  const file = {
    id: fileId,
    filename,
    size: progress.lengthBytes ?? offsetBytes,
    status: state === 'undecided' ? 'transferring' : state,
    checksum: isThere ? `crc32:${progress.crc32.toString(16).padStart(8, '0')}` : null,
    ...(result !== null && result !== undefined && { result }),
  }
  const headers = {
    ...resultHeader(result),
    Location: location,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  }
  return { status: isThere ? 201 : 202, headers, body: JSON.stringify(file) }
}

/** For an upload that cannot be resumed and was cut because its node is stopping. */
export function stoppedForGood(): SluiceError {
  return notNow('This node is stopping. Send the file again.')
}
