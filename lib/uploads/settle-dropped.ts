import type { Bucket } from './bucket-port.ts'
import { endUpload } from './end-upload.ts'
import type { Lease } from './lease/held-lease.ts'
import { heldBy } from './ledger/lease-terms.ts'
import { markFound } from './ledger/mark-found.ts'
import type { UploadContext } from './upload-context.ts'

/** An upload whose multipart upload the bucket does not know. */
export type Dropped = {
  fileId: string
  lease: Lease
  bucket: Pick<Bucket, 'headObject'>
  key: string
  lengthBytes: number | null
  mayRead: boolean
}

/**
 * The bucket has dropped it, or the database was restored from before the object was made. Where the keys may read, the
 * bucket says which; else the file fails as one whose fate is not known. True if the object is there.
 */
export async function settleDropped(
  context: Pick<UploadContext, 'db' | 'clock' | 'announce' | 'metrics'>,
  { fileId, lease, bucket, key, lengthBytes, mayRead }: Dropped,
): Promise<boolean> {
  const object = mayRead ? await bucket.headObject(key, { signal: lease.signal }) : undefined
  if (object && object.bytes === lengthBytes) {
    const { db, clock, announce } = context
    const marked = db.transaction(async (tx) => {
      const isMarked = await markFound(tx, lease, object, clock.now())
      if (isMarked) await announce(tx, fileId)
      return isMarked
    })
    if (await lease.whileHeld(marked)) {
      context.metrics.uploadsFinished.inc({ status: 'transferred' })
      return true
    }
  }
  const isKnown = mayRead && !object
  await endUpload(context, fileId, {
    ...{ status: 'failed', from: ['uploading', 'transferring'], provided: heldBy(lease) },
    reason: isKnown ? DROPPED : `${UNKNOWN} ${key}`,
    ...(!isKnown && { certainty: 'unknown' }),
  })
  return false
}

const DROPPED = 'The bucket has dropped the unfinished multipart upload.'
const UNKNOWN =
  'The bucket no longer knows the multipart upload. It is not known whether it was dropped or completed: look for the object'
