import { attemptsOf, type Bucket, bucketFault, bucketRefusal } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { heldBy, lostLease } from '../ledger/lease-terms.ts'
import type { Destination } from '../opening/upload.ts'
import { type Step, verdictOn } from '../rules/faults.ts'
import type { UploadContext } from '../upload-context.ts'
import { recordTransferred, type Stored } from './record-transferred.ts'

/**
 * Waits for the object to be made, and records the outcome: the file is transferred, or failed, or left for another
 * attempt. The lease is released in each case. True if the object exists.
 */
export async function settle(
  context: UploadContext,
  file: Attempt,
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

/** The same for an attempt that has already failed, while no client was waiting. */
export async function settleFault(
  context: UploadContext,
  file: Attempt,
  step: Step,
  error: unknown,
): Promise<boolean> {
  const { fileId, lease } = file
  context.log.warn({ err: error, fileId, step }, 'could not create the object')
  const verdict = verdictOn(step, error)
  const completeRefused = !file.sentBefore && isCertain(step, error)
  const release = (refusal: unknown) =>
    lease.release({ interrupted: false, refusal: bucketRefusal(refusal), completeRefused }).catch(() => {})
  if (verdict === 'look up')
    return settleByLookingUp(context, file).catch(async (unanswered: unknown) => {
      await release(unanswered)
      return false
    })
  if (verdict === 'fail') await fail(context, file, { reason: (error as Error).message })
  else await release(error)
  return false
}

/** Whether this attempt has certainly not made the object. */
function isCertain(step: Step, error: unknown): boolean {
  if (step === 'lastPart') return true
  return step === 'complete' && bucketFault(error) === 'refused' && attemptsOf(error) === 1
}

/** An upload whose outcome is still open, and the lease of the attempt. */
type Unsettled = {
  fileId: string
  lease: Lease
  lengthBytes: number | null
  destination: Pick<Destination, 'key' | 'mayRead'> & { bucket: Pick<Bucket, 'headObject'> }
}

/** One more attempt to make the object. */
export type Attempt = Unsettled & {
  /** An earlier attempt, whose outcome is unknown, may have made the object. */
  sentBefore: boolean
}

type Ledger = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>

/**
 * For a multipart upload that the bucket no longer has: either it was dropped, or the object was made and the database
 * does not know. If the credentials may read, the object is looked up; otherwise the file fails as `unknown`. True if
 * the object exists.
 */
export async function settleByLookingUp(context: Ledger, file: Unsettled): Promise<boolean> {
  return settleFound(context, file, await lookUp(file), DROPPED)
}

/** Ends a file after its last attempt. Whatever the bucket responded, an earlier attempt may have made the object. */
export async function giveUp(context: Ledger, file: Attempt): Promise<void> {
  if (!file.sentBefore) return fail(context, file, { reason: LATE.missing })
  // Only the bucket's silence ends it as unknown: while the ledger cannot record what was found, it is tried again.
  const found = await lookUp(file).catch(() => 'unknown' as const)
  await settleFound(context, file, found, LATE)
}

/** Undefined if there is no object. */
type Found = Awaited<ReturnType<Bucket['headObject']>> | 'unknown'

async function lookUp({ destination: { bucket, key, mayRead }, lease }: Unsettled): Promise<Found> {
  return mayRead ? bucket.headObject(key, { signal: lease.signal }) : 'unknown'
}

async function settleFound(
  context: Ledger,
  file: Unsettled,
  found: Found,
  reasons: Reasons,
): Promise<boolean> {
  const { lease, lengthBytes } = file
  if (found && found !== 'unknown' && found.bytes === lengthBytes) {
    if (await lease.whileHeld(recordTransferred(context, lease, { found }))) return true
  }
  await (found === undefined
    ? fail(context, file, { reason: reasons.missing })
    : failAsUnknown(context, file, reasons))
  return false
}

type Reasons = { missing: string; unknown: string }
const DROPPED: Reasons = {
  missing: 'The bucket has dropped the unfinished multipart upload.',
  unknown:
    'The bucket no longer has the multipart upload. It is not known whether it was dropped or completed: look for the object',
}
const LATE: Reasons = {
  missing: 'The bucket did not accept the object for 24 hours.',
  unknown:
    'The bucket did not confirm the object for 24 hours. It is not known whether the bucket has it: look for the object',
}

function failAsUnknown(context: Ledger, file: Unsettled, { unknown }: Reasons): Promise<void> {
  return fail(context, file, { reason: `${unknown} ${file.destination.key}`, certainty: 'unknown' })
}

/** Fails the file permanently, unless its lease was lost. */
export async function fail(
  context: Ledger,
  { fileId, lease }: Pick<Unsettled, 'fileId' | 'lease'>,
  end: { reason: string; certainty?: 'unknown' },
): Promise<void> {
  try {
    await endUpload(context, fileId, {
      ...end,
      status: 'failed',
      from: ['uploading', 'transferring'],
      provided: heldBy(lease),
    })
  } finally {
    lease.forget()
  }
}
