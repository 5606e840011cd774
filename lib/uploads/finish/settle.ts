import { within } from '../../platform/kernel/waits.ts'
import { bucketRefusal } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { recordDelivery, recordDestinationFailure } from '../ledger/destinations.ts'
import { heldBy, lostLease } from '../ledger/lease-terms.ts'
import type { FoundAtEach } from '../ledger/transferred.ts'
import type { Destination } from '../opening/upload.ts'
import { failureOf } from '../rules/faults.ts'
import type { Failure } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { type Attempt, type End, type Judged, judgeByLookingUp, type Wanted } from './judge.ts'
import { deliveredOf, recordSeveral, recordTransferred } from './record-transferred.ts'

/**
 * The outcome of an attempt. `left`: nothing is decided, and there will be another attempt. `lagging`: every required
 * destination has the object, and the best-effort destinations get a little more time.
 */
export type Outcome =
  | { kind: 'transferred'; status: FoundAtEach['status'] }
  | { kind: 'left' }
  | { kind: 'lagging'; concluded: Promise<unknown> }
  | { kind: 'failed'; error: unknown }

type Ledger = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'> &
  Partial<Pick<UploadContext, 'checkpoint'>>

/**
 * For a multipart upload that the bucket no longer has. Throws if the bucket cannot currently tell what happened to it.
 */
export async function settleByLookingUp(
  context: Ledger,
  file: Wanted & { lease: Lease },
  fault: unknown,
): Promise<Outcome> {
  return recordOutcome(context, file, await judgeByLookingUp(file, fault))
}

/**
 * Records an attempt's outcome for a file with one destination. The file is transferred, failed, or left for another
 * attempt. The lease is always released.
 */
export async function recordOutcome(
  context: Ledger,
  file: Pick<Wanted, 'fileId' | 'lengthBytes' | 'crc32'> & { lease: Lease },
  judged: Judged,
): Promise<Outcome> {
  switch (judged.kind) {
    case 'stored':
      return recordStored(context, file, judged)
    case 'failed':
      await fail(context, file, judged.end)
      return { kind: 'failed', error: judged.error }
    default:
      return leave(file, judged)
  }
}

async function recordStored(
  context: Ledger,
  file: Pick<Wanted, 'fileId' | 'lengthBytes' | 'crc32'> & { lease: Lease },
  { stored, unlessRecorded }: Extract<Judged, { kind: 'stored' }>,
): Promise<Outcome> {
  const { lease } = file
  try {
    if (await lease.whileHeld(recordTransferred(context, lease, stored, file))) {
      context.checkpoint?.('transferred')
      return { kind: 'transferred', status: 'transferred' }
    }
  } catch (error) {
    return leave(file, { refusal: error, isCertain: false })
  }
  if (!unlessRecorded) return leave(file, { refusal: lostLease(), isCertain: false })
  await fail(context, file, unlessRecorded)
  return { kind: 'failed', error: lostLease() }
}

async function leave(
  { lease }: { lease: Lease },
  { refusal, isCertain }: { refusal: unknown; isCertain: boolean },
): Promise<Outcome> {
  const end = { interrupted: false, refusal: bucketRefusal(refusal), completeRefused: isCertain }
  await lease.release(end).catch(() => {})
  return { kind: 'left' }
}

/** Fails the file permanently, unless its lease was lost. */
export async function fail(
  context: Ledger,
  { fileId, lease }: { fileId: string; lease: Lease },
  end: End,
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

/** A destination where the object has to be created. */
export type ObjectPlace = Wanted['destination'] & Pick<Destination, 'dataStoreId' | 'required'>

/** A file whose bytes are all durable, with the destinations that have no object yet. */
export type Unsettled<Place extends ObjectPlace> = {
  fileId: string
  lease: Lease
  lengthBytes: number
  crc32: number
  /** An earlier attempt with an unknown outcome may have created an object. */
  sentBefore: boolean
  hasOneDestination: boolean
  destinations: readonly Place[]
}

/** Makes one attempt at each of these destinations, and records the outcome. The lease is always released. */
export async function settleFile<Place extends ObjectPlace>(
  context: UploadContext,
  { destinations, hasOneDestination, ...file }: Unsettled<Place>,
  attempt: (at: Attempt & { destination: Place }) => Promise<Judged>,
): Promise<Outcome> {
  if (hasOneDestination) {
    const one = { ...file, destination: destinations[0]! }
    return recordOutcome(context, one, await attempt(one))
  }
  const tries = destinations.map((destination) => ({
    destination,
    judging: (signal: AbortSignal) => attempt({ ...file, destination, lease: { signal } }),
  }))
  return settleSeveral(context, file, tries)
}

type File = { fileId: string; lease: Lease }

/** An attempt to create the object at one destination that does not have it yet. */
export type Try = {
  destination: { dataStoreId: string; required: boolean }
  /** The signal is aborted once the outcome no longer matters. */
  judging: (signal: AbortSignal) => Promise<Judged>
}

/**
 * For a file with several destinations: waits for the objects, and records each as it is created. The required
 * destinations determine the outcome, and the best-effort destinations get a little more time. The file's status then
 * follows from its destinations' statuses, and the lease is released.
 */
export async function settleSeveral(
  context: UploadContext,
  file: File,
  tries: readonly Try[],
): Promise<Outcome> {
  const over = new AbortController()
  const signal = AbortSignal.any([file.lease.signal, over.signal])
  const settling = (one: Try) => settleOne(context, file, one, signal)
  const bestEffort = tries.filter(({ destination }) => !destination.required)
  const lagging = new Set(bestEffort)
  const others = bestEffort.map((one) => settling(one).finally(() => lagging.delete(one)))
  const required = tries.filter(({ destination }) => destination.required)
  const judged = await Promise.all(required.map(settling))
  // If the file failed first, an object that is still being created would be left behind.
  if (judged.some(({ kind }) => kind === 'failed')) await within(context.terms.trailMs, Promise.all(others))
  const decided = await decide(context, file, required, judged)
  if (decided) {
    over.abort()
    return decided
  }
  const concluding = within(lagging.size > 0 ? context.terms.trailMs : 0, Promise.all(others)).then(
    async () => {
      over.abort()
      for (const { destination } of lagging) await giveUp(context, file, destination, FELL_BEHIND)
      return conclude(context, file)
    },
  )
  inBackground(context, concluding)
  return lagging.size > 0 ? { kind: 'lagging', concluded: concluding } : concluding
}

const FELL_BEHIND: Failure = { reason: 'fell_behind', detail: null }

/**
 * Records one destination's outcome. For a required destination, it records only success; `decide` handles failures for
 * the entire file.
 */
async function settleOne(
  context: UploadContext,
  file: File,
  { destination, judging }: Try,
  signal: AbortSignal,
): Promise<Judged> {
  const { dataStoreId, required } = destination
  const judged = await judging(signal)
  if (judged.kind === 'stored') {
    const recording = recordDelivery(context.db, file.lease, dataStoreId, deliveredOf(judged.stored))
    const isRecorded = await file.lease.whileHeld(recording).catch(() => false)
    return isRecorded ? judged : { kind: 'left', refusal: lostLease(), isCertain: false }
  }
  const isRefused = judged.kind === 'failed' || judged.refusal !== undefined
  if (!required && isRefused && !signal.aborted) await giveUp(context, file, destination, failureFrom(judged))
  return judged
}

/** The outcome that the required destinations determine; undefined if all of them have the object. */
async function decide(
  context: UploadContext,
  file: File,
  tries: readonly Try[],
  judged: readonly Judged[],
): Promise<Outcome | undefined> {
  const failed = judged.find((one) => one.kind === 'failed')
  if (failed) {
    await fail(context, file, failed.end)
    return { kind: 'failed', error: failed.error }
  }
  const left = judged.filter((one) => one.kind === 'left')
  if (left.length === 0) return undefined
  const completeRefused = left.every(({ isCertain }) => isCertain)
  const refusalAt = (one: Judged, n: number) =>
    one.kind === 'left' ? bucketRefusal(one.refusal, tries[n]!.destination.dataStoreId) : undefined
  const refusal = judged.map(refusalAt).find(Boolean)
  await file.lease.release({ interrupted: false, refusal, completeRefused }).catch(() => {})
  return { kind: 'left' }
}

async function conclude(context: UploadContext, { lease }: File): Promise<Outcome> {
  const status = await lease.whileHeld(recordSeveral(context, lease)).catch(() => false as const)
  if (status) {
    context.checkpoint('transferred')
    return { kind: 'transferred', status }
  }
  await lease.release({ interrupted: false }).catch(() => {})
  return { kind: 'left' }
}

/** Abandons a destination. If the database cannot record that, the destination stays open for a later attempt. */
async function giveUp(
  { db, clock, log, metrics }: UploadContext,
  { fileId }: File,
  { dataStoreId }: Try['destination'],
  failure: Failure,
): Promise<void> {
  metrics.destinationsFailed.inc({ reason: failure.reason })
  await recordDestinationFailure(db, { fileId, dataStoreId }, failure, clock.now()).catch((error: unknown) =>
    log.warn({ err: error, fileId, dataStoreId }, 'could not abandon a destination; will retry'),
  )
}

function failureFrom(judged: Exclude<Judged, { kind: 'stored' }>): Failure {
  if (judged.kind === 'left') return failureOf(judged.refusal)
  const { reason, certainty } = judged.end
  return { reason: certainty ?? 'rejected', detail: reason }
}
