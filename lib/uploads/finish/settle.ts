import type { Db } from '../../platform/db/database.ts'
import { within } from '../../platform/kernel/waits.ts'
import { span } from '../../platform/tracing/span.ts'
import { bucketRefusal } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { heldBy, lostLease } from '../ledger/lease-terms.ts'
import {
  type Delivery,
  type DoneStatus,
  type Found,
  recordDeliveries,
  recordDestinationFailure,
  recordFound,
  recordTransferred,
} from '../ledger/transferred.ts'
import type { Destination } from '../opening/upload.ts'
import { failureOf } from '../rules/faults.ts'
import type { Failure } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import { type End, type Judged, judgeByLookingUp } from './judge.ts'

/**
 * What became of a file. `left`: nothing is decided, and there will be another attempt. `lagging`: every required
 * destination has the object, and the best-effort destinations get a little more time.
 */
export type Outcome =
  | { kind: 'transferred'; status: DoneStatus }
  | { kind: 'left' }
  | { kind: 'lagging'; concluded: Promise<unknown> }
  | { kind: 'failed'; error: unknown }

type File = { fileId: string; lease: Lease }

type Finishing = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'> &
  Partial<Pick<UploadContext, 'checkpoint' | 'log'>>

/** An attempt to create the object at one destination that does not have it yet. */
export type Try = {
  destination: { dataStoreId: string; required: boolean }
  /** The signal is aborted once the outcome no longer matters. */
  judging: (signal: AbortSignal) => Promise<Judged>
}

/**
 * Waits for a file's objects, and records what became of it. The required destinations determine the outcome, and the
 * best-effort destinations get a little more time. The lease is always released.
 */
export async function settle(context: UploadContext, file: File, tries: readonly Try[]): Promise<Outcome> {
  const over = new AbortController()
  const signal = AbortSignal.any([file.lease.signal, over.signal])
  const delivered: Delivery[] = []
  const lagging = new Set(tries.filter(({ destination }) => !destination.required))
  const attempt = async ({ destination, judging }: Try): Promise<Judged> => {
    const judged = await judging(signal)
    if (judged.kind === 'stored')
      delivered.push({ dataStoreId: destination.dataStoreId, ...judged.delivered })
    return judged
  }
  const others = [...lagging].map(async (one) => {
    const judged = await attempt(one)
    if (!signal.aborted) await giveUpIfRefused(context, file, one, judged)
    lagging.delete(one)
  })
  const required = tries.filter(({ destination }) => destination.required)
  const judged = await Promise.all(required.map(attempt))
  // If the file failed first, an object that is still being created would be left behind.
  if (judged.some(({ kind }) => kind === 'failed')) await within(context.terms.trailMs, Promise.all(others))
  const decided = outcomeOf(required, judged)
  if (!decided && lagging.size > 0) await within(0, Promise.all(others))
  if (!decided && lagging.size === 0) return conclude(context, file, delivered)
  // Nobody else can record these objects: a later attempt would create them again.
  await file.lease.whileHeld(recordDeliveries(context.db, file.lease, delivered.splice(0))).catch(() => {})
  if (decided) {
    over.abort()
    return finishUndelivered(context, file, decided)
  }
  const concluding = within(context.terms.trailMs, Promise.all(others)).then(async () => {
    over.abort()
    for (const one of lagging) await giveUp(context, file, one, FELL_BEHIND)
    return conclude(context, file, delivered)
  })
  inBackground(context, concluding)
  return { kind: 'lagging', concluded: concluding }
}

const FELL_BEHIND: Failure = { reason: 'fell_behind', detail: null }

/** What keeps a file from being transferred. */
type Undelivered =
  | { kind: 'failed'; end: End; error: unknown }
  | { kind: 'left'; refusal: ReturnType<typeof bucketRefusal>; completeRefused: boolean }

/** Undefined if every required destination has the object. */
function outcomeOf(required: readonly Try[], judged: readonly Judged[]): Undelivered | undefined {
  const failed = judged.find((one) => one.kind === 'failed')
  if (failed) return failed
  const left = judged.filter((one) => one.kind === 'left')
  if (left.length === 0) return undefined
  const refusals = judged.map((one, n) =>
    one.kind === 'left' ? bucketRefusal(one.refusal, required[n]!.destination.dataStoreId) : undefined,
  )
  return {
    kind: 'left',
    refusal: refusals.find(Boolean),
    completeRefused: left.every(({ isCertain }) => isCertain),
  }
}

async function finishUndelivered(
  context: UploadContext,
  file: File,
  undelivered: Undelivered,
): Promise<Outcome> {
  if (undelivered.kind === 'failed') {
    await fail(context, file, undelivered.end)
    return { kind: 'failed', error: undelivered.error }
  }
  const { refusal, completeRefused } = undelivered
  await leave(file, { refusal, completeRefused })
  return { kind: 'left' }
}

/** Leaves the file for another attempt. If the database cannot be reached, the lease expires. */
async function leave({ lease }: File, end: Omit<Parameters<Lease['release']>[0], 'interrupted'> = {}) {
  await lease.release({ interrupted: false, ...end }).catch(() => {})
}

async function conclude(
  context: UploadContext,
  file: File,
  delivered: readonly Delivery[],
): Promise<Outcome> {
  const { clock } = context
  const done = await record(context, file, (tx) => recordTransferred(tx, file.lease, delivered, clock.now()))
  if (!done) await leave(file)
  return done ?? { kind: 'left' }
}

/**
 * For a file whose multipart upload one of its buckets no longer has: either it was dropped, or the objects were
 * created without the database knowing. Throws if a required bucket cannot currently tell what happened.
 */
export async function settleByLookingUp(
  context: UploadContext,
  file: File & { lengthBytes: number | null; destinations: readonly Destination[] },
  fault: unknown,
): Promise<Outcome> {
  const { fileId, lease, lengthBytes } = file
  const looked = await Promise.all(
    file.destinations.map(async (destination) => {
      if (!destination.isOpen) return { destination, judged: undefined }
      const looking = judgeByLookingUp({ fileId, lease, lengthBytes, destination }, fault)
      // A best-effort destination that does not respond has no influence on the outcome.
      const judged = await (destination.required ? looking : looking.catch(() => undefined))
      return { destination, judged }
    }),
  )
  for (const { destination, judged } of looked) {
    if (!destination.required || judged?.kind !== 'failed') continue
    await fail(context, file, judged.end)
    return { kind: 'failed', error: judged.error }
  }
  if (looked.some(({ destination, judged }) => destination.required && judged?.kind !== 'stored'))
    return { kind: 'left' }
  const destinations = looked.map(({ destination: { dataStoreId }, judged }) => ({
    dataStoreId,
    isThere: judged?.kind === 'stored',
    etag: judged?.kind === 'stored' ? judged.delivered.etag : null,
  }))
  const done = await settleFound(context, file, { lengthBytes, destinations })
  if (done) return done
  // Either the lease was lost, and this changes nothing, or the file is a piece whose checksum is unknown.
  await fail(context, file, {
    reason: 'The bucket has the object, but not all of its bytes were seen.',
    certainty: 'unknown',
  })
  return { kind: 'failed', error: lostLease() }
}

/** Finishes an unfinished file whose object was found at each required destination. Undefined if that is not possible. */
export function settleFound(
  context: Finishing,
  file: File,
  found: { lengthBytes: number | null; destinations: readonly Found[] },
): Promise<Outcome | undefined> {
  const { clock } = context
  return record(context, file, (tx) => recordFound(tx, file.lease, found, clock.now()))
}

/** Records that the file is finished, with its event, in one transaction that also releases the lease. */
async function record(
  context: Finishing,
  { fileId, lease }: File,
  done: (tx: Db) => Promise<DoneStatus | undefined>,
): Promise<Outcome | undefined> {
  const { db, emitEvents, metrics, checkpoint, log } = context
  const recording = span('ledger transferred', () =>
    db.transaction(async (tx) => {
      const status = await done(tx)
      if (status) await emitEvents(tx, fileId)
      return status
    }),
  )
  const status = await lease.whileHeld(recording).catch((err: unknown) => {
    log?.warn({ err, fileId }, 'could not record the object; will retry')
    return undefined
  })
  if (!status) return undefined
  lease.forget()
  metrics.uploadsFinished.inc({ status })
  checkpoint?.('transferred')
  return { kind: 'transferred', status }
}

/** Fails the file permanently, unless its lease was lost. */
export async function fail(context: Finishing, { fileId, lease }: File, end: End): Promise<void> {
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

async function giveUpIfRefused(context: UploadContext, file: File, one: Try, judged: Judged): Promise<void> {
  if (judged.kind === 'stored' || (judged.kind === 'left' && judged.refusal === undefined)) return
  const failure =
    judged.kind === 'left'
      ? failureOf(judged.refusal)
      : { reason: judged.end.certainty ?? ('rejected' as const), detail: judged.end.reason }
  await giveUp(context, file, one, failure)
}

/** Abandons a destination. If the database cannot record that, the destination stays open for a later attempt. */
async function giveUp(
  { db, clock, log, metrics }: UploadContext,
  { fileId }: File,
  { destination: { dataStoreId } }: Try,
  failure: Failure,
): Promise<void> {
  metrics.destinationsFailed.inc({ reason: failure.reason })
  await recordDestinationFailure(db, { fileId, dataStoreId }, failure, clock.now()).catch((error: unknown) =>
    log.warn({ err: error, fileId, dataStoreId }, 'could not abandon a destination; will retry'),
  )
}
