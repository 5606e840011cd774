import { type Bucket, bucketRefusal } from './bucket-port.ts'
import { endUpload } from './endings/end-upload.ts'
import { type Step, verdictOn } from './fault-table.ts'
import type { Lease } from './lease/held-lease.ts'
import { heldBy, lostLease } from './ledger/lease-terms.ts'
import { recordTransferred, type Stored } from './record-transferred.ts'
import type { UploadContext } from './upload-context.ts'

/** An upload that is about to become an object, and the lease under which it does. */
export type Unsettled = {
  fileId: string
  lease: Lease
  bucket: Pick<Bucket, 'headObject'>
  key: string
  lengthBytes: number | null
  /** The credentials may read, so that the object can be looked up. */
  mayRead: boolean
}

/**
 * Waits for the object to be made, and records the outcome: the file is transferred, or failed, or left for another
 * attempt. The lease is released in each case. True if the object exists.
 */
export async function settle(
  context: UploadContext,
  file: Unsettled,
  step: Step,
  storing: Promise<Stored>,
): Promise<boolean> {
  const { lease } = file
  try {
    if (!(await lease.whileHeld(recordTransferred(context, lease, await storing)))) throw lostLease()
    context.checkpoint('transferred')
    return true
  } catch (error) {
    return await settleFault(context, file, step, error)
  }
}

/** The same for an attempt that has failed while no client was waiting. */
export async function settleFault(
  context: UploadContext,
  file: Unsettled,
  step: Step,
  error: unknown,
): Promise<boolean> {
  const { fileId, lease } = file
  context.log.warn({ err: error, fileId, step }, 'could not create the object')
  const verdict = verdictOn(step, error)
  const release = (refusal: unknown) =>
    lease.release({ interrupted: false, refusal: bucketRefusal(refusal) }).catch(() => {})
  if (verdict === 'look up')
    return settleByLookingUp(context, file).catch(async (unanswered: unknown) => {
      await release(unanswered)
      return false
    })
  if (verdict === 'fail') await fail(context, file, { reason: (error as Error).message })
  else await release(error)
  return false
}

/**
 * The bucket has dropped the multipart upload, or the database was restored from before the object was made. If the
 * credentials may read, the bucket says which; otherwise the file fails as `unknown`. True if the object exists.
 */
export async function settleByLookingUp(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
  file: Unsettled,
): Promise<boolean> {
  const { lease, bucket, key, lengthBytes, mayRead } = file
  const object = mayRead ? await bucket.headObject(key, { signal: lease.signal }) : undefined
  if (object && object.bytes === lengthBytes) {
    if (await lease.whileHeld(recordTransferred(context, lease, { found: object }))) return true
  }
  const isKnown = mayRead && !object
  await fail(context, file, {
    reason: isKnown ? DROPPED : `${UNKNOWN} ${key}`,
    ...(!isKnown && { certainty: 'unknown' }),
  })
  return false
}

const DROPPED = 'The bucket has dropped the unfinished multipart upload.'
const UNKNOWN =
  'The bucket no longer knows the multipart upload. It is not known whether it was dropped or completed: look for the object'

/** The file fails for good, unless its lease was lost. */
export async function fail(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
  { fileId, lease }: Pick<Unsettled, 'fileId' | 'lease'>,
  end: { reason: string; certainty?: 'unknown' },
): Promise<void> {
  await endUpload(context, fileId, {
    ...end,
    status: 'failed',
    from: ['uploading', 'transferring'],
    provided: heldBy(lease),
  })
  lease.forget()
}
