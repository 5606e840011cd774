import { combineCrc32 } from '../platform/kernel/crc32.ts'
import { within } from '../platform/kernel/within.ts'
import type { Body } from './bucket-port.ts'
import { verdictOn } from './fault-table.ts'
import { lostLease } from './ledger/lease-terms.ts'
import type { PartBuffer } from './memory/part-buffer.ts'
import type { OpenUpload } from './open-upload.ts'
import { recordTransferred } from './record-transferred.ts'
import type { Parts } from './stream/parts.ts'
import { withTail } from './stream/with-tail.ts'
import type { UploadContext } from './upload-context.ts'

export type Finished = { offsetBytes: number; state: 'transferring' | 'transferred' }

/**
 * Stores a file by a single PutObject. Nothing is confirmed before the bucket answers, so a crash costs a re-send, never a
 * confirmed byte; an object that was already written is put again under the same key.
 */
export async function putWhole(
  context: UploadContext,
  upload: OpenUpload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  await parts.recorded()
  const { lease, bucket, key, contentType } = upload
  // Abort the PUT before its buffers are reused.
  const late = new AbortController()
  const signal = AbortSignal.any([lease.signal, late.signal])
  // The checksum of the bytes as they arrived, so that the bucket refuses a tail that was damaged since.
  const crc32 = combineCrc32(upload.crc32, last.crc32, last.bytes)
  const put = (body: Body) => {
    lease.assertHeld()
    upload.wasPut = true
    return bucket.putObject({ key, contentType }, { ...body, crc32 }, { signal })
  }
  const tailed = { fromBytes: 0, toBytes: upload.offsetBytes, body: last, signal }
  const putting = upload.tailBytes > 0 ? withTail(context, upload, tailed, put) : put(last)
  const answer = await within(context.terms.assembleMs, putting).catch((error: unknown) => {
    if (verdictOn('put', error) === 'keep') return 'late' as const
    throw error
  })
  late.abort()
  if (answer === 'late') return keepForLater(context, upload, parts, last)
  context.checkpoint('object put')
  await recordObject(context, upload, { last, crc32, etag: answer.etag })
  return { offsetBytes: upload.offsetBytes, state: 'transferred' }
}

async function recordObject(
  context: UploadContext,
  upload: OpenUpload,
  { last, crc32, etag }: { last: PartBuffer; crc32: number; etag: string | null },
): Promise<void> {
  const { lease, workspaceId, hasWebhooks, offsetBytes: fromBytes } = upload
  const toBytes = fromBytes + last.bytes
  const delivered = { etag, certainty: etag === null ? 'inferred' : 'answered' } as const
  const whole = { workspaceId, lease, hasWebhooks, fromBytes, toBytes, crc32, delivered }
  if (
    !(await lease.whileHeld(recordTransferred(context, lease, { whole: () => context.recordWhole(whole) })))
  )
    throw lostLease()
  context.checkpoint('transferred')
  upload.offsetBytes = toBytes
  upload.crc32 = crc32
  context.metrics.uploadBytes.inc(last.bytes)
}

/** Buffers the bytes in the database; the reconciler sends them to the bucket. */
async function keepForLater(
  context: UploadContext,
  upload: OpenUpload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  context.log.warn({ fileId: upload.fileId }, 'bucket unavailable; object buffered in the database')
  void parts.keep(last, { become: 'transferring', release: { interrupted: false } })
  await parts.recorded()
  return { offsetBytes: upload.offsetBytes, state: 'transferring' }
}
