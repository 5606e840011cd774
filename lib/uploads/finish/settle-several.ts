import { within } from '../../platform/kernel/waits.ts'
import { bucketRefusal } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { recordDelivery, recordDestinationFailure } from '../ledger/destinations.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import { failureOf } from '../rules/faults.ts'
import type { Failure } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import type { Judged } from './judge.ts'
import { deliveredOf, recordSeveral } from './record-transferred.ts'
import { fail, type Outcome } from './settle.ts'

type File = { fileId: string; lease: Lease }

/** An attempt at one destination that has no object yet. */
export type Try = {
  destination: { dataStoreId: string; required: boolean }
  /** Aborted once the outcome no longer matters. */
  judging: (signal: AbortSignal) => Promise<Judged>
}

/**
 * For a file with several destinations: waits for the objects, and records each as it is made. The required destinations
 * decide, and the others have a moment longer. Then the status of the file follows from theirs, and the lease is released.
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
  // An object that is being made now would stay behind if the file failed before that.
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

/** Records what came of one. Of a required one, only its object: of the rest, the file decides. */
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
  if (!required && !signal.aborted) await giveUp(context, file, destination, failureFrom(judged))
  return judged
}

/** What the required destinations have decided; undefined if all of them have the object. */
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
  const isConcluded = await lease.whileHeld(recordSeveral(context, lease)).catch(() => false)
  if (isConcluded) {
    context.checkpoint('transferred')
    return { kind: 'transferred' }
  }
  await lease.release({ interrupted: false }).catch(() => {})
  return { kind: 'left' }
}

/** If the database does not record it, the destination stays open and the lease is released: a later attempt decides. */
async function giveUp(
  { db, clock, log, metrics }: UploadContext,
  { fileId }: File,
  { dataStoreId }: Try['destination'],
  failure: Failure,
): Promise<void> {
  metrics.destinationsFailed.inc({ reason: failure.reason })
  await recordDestinationFailure(db, { fileId, dataStoreId }, failure, clock.now()).catch((error: unknown) =>
    log.warn({ err: error, fileId, dataStoreId }, 'could not give up a destination; will retry'),
  )
}

function failureFrom(judged: Exclude<Judged, { kind: 'stored' }>): Failure {
  if (judged.kind === 'left') return failureOf(judged.refusal)
  const { reason, certainty } = judged.end
  return { reason: certainty ?? 'rejected', detail: reason }
}
