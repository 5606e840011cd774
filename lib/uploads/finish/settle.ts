import { uuidv7Ms } from '../../platform/kernel/ids.ts'
import { type Bucket, bucketRefusal } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { heldBy, lostLease } from '../ledger/lease-terms.ts'
import type { Destination } from '../opening/upload.ts'
import { classify, errorForClient, type Step } from '../rules/faults.ts'
import type { UploadContext } from '../upload-context.ts'
import { recordTransferred, type Stored } from './record-transferred.ts'

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

/** What became of an attempt. `left`: nothing is decided, and there will be another one. */
export type Outcome = { kind: 'transferred' } | { kind: 'left' } | { kind: 'failed'; error: unknown }

type Ledger = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>

/**
 * Waits for the object to be made, and records the outcome: the file is transferred, or failed, or left for another
 * attempt. The lease is released in each case.
 */
export async function settle(
  context: UploadContext,
  file: Attempt,
  step: Step,
  storing: Promise<Stored>,
): Promise<Outcome> {
  const { lease, lengthBytes } = file
  try {
    const recording = recordTransferred(context, lease, await storing, lengthBytes)
    if (!(await lease.whileHeld(recording))) throw lostLease()
    context.checkpoint('transferred')
    return { kind: 'transferred' }
  } catch (error) {
    return await settleFault(context, file, step, error)
  }
}

/** The same for an attempt that has already failed. */
export async function settleFault(
  context: UploadContext,
  file: Attempt,
  step: Step,
  fault: unknown,
): Promise<Outcome> {
  const { fileId, lease, sentBefore, destination } = file
  context.log.warn({ err: fault, fileId, step }, 'could not create the object')
  const ageMs = context.clock.now() - uuidv7Ms(fileId)
  const { verdict, effect } = classify(fault, step, { sentBefore, ageMs, mayRead: destination.mayRead })
  const leave = async (refusal: unknown): Promise<Outcome> => {
    const completeRefused = effect === 'none'
    const end = { interrupted: false, refusal: bucketRefusal(refusal), completeRefused }
    await lease.release(end).catch(() => {})
    return { kind: 'left' }
  }
  switch (verdict) {
    case 'look up':
      return settleByLookingUp(context, file, fault).catch(leave)
    case 'compare':
      return settleExisting(context, file).then((isOurs) => (isOurs ? TRANSFERRED : leave(fault)), leave)
    case 'infer':
      return settleInferred(context, file).then(() => TRANSFERRED, leave)
    case 'fail':
      await fail(context, file, { reason: (fault as Error).message })
      return { kind: 'failed', error: errorForClient(fault) }
    default:
      return leave(fault)
  }
}

const TRANSFERRED: Outcome = { kind: 'transferred' }

/** For an object that is there already. False if it is not the file's, or if the bucket does not let it be seen. */
async function settleExisting(context: Ledger, file: Attempt): Promise<boolean> {
  const object = await lookUp(file)
  if (object === 'unknown' || object?.bytes !== file.lengthBytes) return false
  return file.lease.whileHeld(recordTransferred(context, file.lease, { found: object }))
}

async function settleInferred(context: Ledger, { lease }: Attempt): Promise<void> {
  const delivered = { etag: null, certainty: 'inferred' } as const
  if (!(await lease.whileHeld(recordTransferred(context, lease, { delivered })))) throw lostLease()
}

/**
 * For a multipart upload that the bucket no longer has: either it was dropped, or the object was made and the database
 * does not know. If the credentials may read, the object is looked up; otherwise the file fails as `unknown`. Throws if
 * the bucket does not say it now.
 */
export async function settleByLookingUp(context: Ledger, file: Unsettled, fault: unknown): Promise<Outcome> {
  if (await settleFound(context, file, await lookUp(file), DROPPED)) return TRANSFERRED
  return { kind: 'failed', error: errorForClient(fault) }
}

/** Ends a file after its last attempt. Whatever the bucket responded, an earlier attempt may have made the object. */
export async function giveUp(context: Ledger, file: Attempt): Promise<void> {
  if (!file.sentBefore) return fail(context, file, { reason: LATE.missing })
  // Only the bucket's silence ends it as unknown: while the ledger cannot record what was found, it is tried again.
  const found = await lookUp(file).catch(() => 'unknown' as const)
  await settleFound(context, file, found, LATE)
}

/** Undefined if there is no object. */
type LookedUp = Awaited<ReturnType<Bucket['headObject']>> | 'unknown'

async function lookUp({ destination: { bucket, key, mayRead }, lease }: Unsettled): Promise<LookedUp> {
  if (!mayRead) return 'unknown'
  try {
    return await bucket.headObject(key, { signal: lease.signal })
  } catch (error) {
    if (classify(error, 'look up').verdict === 'unknown') return 'unknown'
    throw error
  }
}

async function settleFound(
  context: Ledger,
  file: Unsettled,
  found: LookedUp,
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
