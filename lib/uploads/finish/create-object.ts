import { pause } from '../../platform/kernel/waits.ts'
import type { Bucket, PutResult, SentPart, Target } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { readParts } from '../ledger/parts.ts'
import type { Delivered } from '../ledger/transferred.ts'
import type { UploadContext } from '../upload-context.ts'

/** A file whose bytes are all in parts, ready to become an object at one destination. */
export type Assembly = {
  fileId: string
  lease: Lease
  /** `multipartId` is null while a best-effort destination lags behind with its first part. */
  destination: { bucket: Bucket; key: string; position: number; readonly multipartId: string | null }
  bytes: number
  crc32: number
  /** The bucket may already have created the object, in an attempt with an unknown outcome. */
  sentBefore: boolean
}

/**
 * Makes one attempt to create the object from the parts. `complete_sent_at` is committed before this is called, so
 * after a crash at any point, the reconciler finds a `transferring` file.
 */
export async function assemble(
  context: UploadContext,
  { fileId, lease, destination, bytes, crc32, sentBefore }: Assembly,
  signal: AbortSignal,
): Promise<Delivered> {
  const { bucket, key } = destination
  const parts = await lease.whileHeld(acknowledgedParts(context, fileId, destination, signal))
  lease.assertHeld()
  const upload = { key, multipartId: destination.multipartId! }
  const options = { signal, repeated: sentBefore }
  const { etag } = await bucket.completeMultipart(upload, { parts, bytes, crc32 }, options)
  context.checkpoint('complete answered')
  return { etag, certainty: 'answered' }
}

/**
 * Required destinations have acknowledged each recorded part; for best-effort ones, this waits for the last parts.
 */
async function acknowledgedParts(
  { db, terms }: UploadContext,
  fileId: string,
  destination: Assembly['destination'],
  signal: AbortSignal,
): Promise<SentPart[]> {
  for (;;) {
    const parts = await readParts(db, fileId, destination.position)
    if (destination.multipartId && parts.every(isAcknowledged)) return parts
    await pause(terms.pollMs, signal)
    signal.throwIfAborted()
  }
}

export const isAcknowledged = (part: { etag: string | null }): part is SentPart => part.etag !== null

/** What is known about an object after the response to its PutObject. */
export function deliveredByPut(
  bucket: Pick<Bucket, 'storageOf'>,
  { object }: Pick<Target, 'object'>,
  { etag, isFound }: PutResult,
): Delivered {
  const certainty = etag === null ? 'inferred' : isFound ? 'confirmed' : 'answered'
  return { etag, certainty, storage: bucket.storageOf(object) }
}
