import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { OpenUpload } from '../opening/open-upload.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { putObject } from './put-object.ts'
import { recordTransferred } from './record-transferred.ts'

export type Finished = { offsetBytes: number; state: 'transferring' | 'transferred' }

/**
 * Stores a file by a single PutObject. Nothing is confirmed before the bucket has answered: after a crash the client
 * sends the bytes again, and the same key is written again. If the bucket has a transient error, the bytes go to the
 * database, and the reconciler sends them.
 */
export async function putWhole(
  context: UploadContext,
  upload: OpenUpload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  await parts.recorded()
  const crc32 = combineCrc32(upload.crc32, last.crc32, last.bytes)
  const answer = await putObject(context, upload, last, crc32)
  if (!answer) {
    context.log.warn({ fileId: upload.fileId }, 'bucket unavailable; object buffered in the database')
    void parts.storeAsTail(last, { become: 'transferring', release: { interrupted: false } })
    await parts.recorded()
    return { offsetBytes: upload.offsetBytes, state: 'transferring' }
  }
  context.checkpoint('object put')
  const { lease, workspaceId, hasWebhooks, offsetBytes: fromBytes } = upload
  const { etag } = answer
  const toBytes = fromBytes + last.bytes
  const delivered = { etag, certainty: etag === null ? 'inferred' : 'answered' } as const
  const whole = { workspaceId, lease, hasWebhooks, fromBytes, toBytes, crc32, delivered }
  const recording = recordTransferred(context, lease, { whole: () => context.recordWhole(whole) })
  if (!(await lease.whileHeld(recording))) throw lostLease()
  context.checkpoint('transferred')
  upload.offsetBytes = toBytes
  upload.crc32 = crc32
  context.metrics.uploadBytes.inc(last.bytes)
  return { offsetBytes: toBytes, state: 'transferred' }
}
