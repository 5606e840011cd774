import type { Db } from '../../platform/db/database.ts'
import { within } from '../../platform/kernel/waits.ts'
import { span } from '../../platform/tracing/span.ts'
import { bucketRefusal } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { holdsWriter } from '../ledger/lanes.ts'
import {
  type DoneStatus,
  type Found,
  recordDestinationFailure,
  recordFound,
  recordStoredAt,
  recordTransferred,
  type StoredAt,
} from '../ledger/transferred.ts'
import { failureOf } from '../rules/faults.ts'
import { type Failure, FELL_BEHIND } from '../rules/file-status.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'
import type { Attempt, End, Judged } from './create-object.ts'

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

/** What `settle` needs to know of a destination that does not have the object yet. */
type Open = Attempt['destination'] & { dataStoreId: string; required: boolean }

/**
 * Attempts to create a file's object at each of these destinations, and records what became of the file. The required
 * destinations determine the outcome, and the best-effort destinations get a little more time. An attempt's signal is
 * aborted once its outcome no longer matters. The lease is always released.
 */
export async function settle<At extends Open>(
  context: UploadContext,
  { lengthBytes, sentBefore, ...file }: File & Pick<Attempt, 'lengthBytes' | 'sentBefore'>,
  destinations: readonly At[],
  judging: (attempt: Attempt & { destination: At }) => Promise<Judged>,
): Promise<Outcome> {
  const { fileId } = file
  const over = new AbortController()
  const signal = AbortSignal.any([file.lease.signal, over.signal])
  const storedAt: StoredAt[] = []
  const attempt = async (destination: At): Promise<Judged> => {
    const judged = await judging({ fileId, lengthBytes, sentBefore, destination, lease: { signal } })
    if (judged.kind === 'stored') storedAt.push({ dataStoreId: destination.dataStoreId, ...judged.object })
    return judged
  }
  const lagging = new Set(destinations.filter(({ required }) => !required))
  const others = [...lagging].map(async (one) => {
    const judged = await attempt(one)
    if (!signal.aborted) await giveUpIfRefused(context, file, one, judged)
    lagging.delete(one)
  })
  const required = destinations.filter((one) => one.required)
  const judged = await Promise.all(required.map(attempt))
  // If the file failed first, an object that is still being created would be left behind.
  if (judged.some(({ kind }) => kind === 'failed')) await within(context.terms.trailMs, Promise.all(others))
  const decided = outcomeOf(required, judged)
  if (!decided && lagging.size > 0) await within(0, Promise.all(others))
  if (!decided && lagging.size === 0) return conclude(context, file, storedAt)
  // Nobody else can record these objects: a later attempt would create them again.
  await file.lease
    .whileHeld(recordStoredAt(context.db, file.lease, storedAt.splice(0)))
    .catch(warnOf(context, file, 'could not record where the object is; will retry'))
  if (decided) {
    over.abort()
    return finishUndelivered(context, file, decided)
  }
  const concluding = within(context.terms.trailMs, Promise.all(others)).then(async () => {
    over.abort()
    for (const one of lagging) await giveUp(context, file, one, FELL_BEHIND)
    return conclude(context, file, storedAt)
  })
  inBackground(context, concluding)
  return { kind: 'lagging', concluded: concluding }
}

/** What keeps a file from being transferred. */
type Undelivered =
  | { kind: 'failed'; end: End; error: unknown }
  | { kind: 'left'; refusal: ReturnType<typeof bucketRefusal>; completeRefused: boolean }

/** Undefined if every required destination has the object. */
function outcomeOf(required: readonly Open[], judged: readonly Judged[]): Undelivered | undefined {
  const failed = judged.find((one) => one.kind === 'failed')
  if (failed) return failed
  const left = judged.filter((one) => one.kind === 'left')
  if (left.length === 0) return undefined
  const refusals = judged.map((one, n) =>
    one.kind === 'left' ? bucketRefusal(one.refusal, required[n]!.dataStoreId) : undefined,
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
  await leave(context, file, { refusal, completeRefused })
  return { kind: 'left' }
}

/** Leaves the file for another attempt. If the database cannot be reached, the lease expires. */
async function leave(
  context: UploadContext,
  file: File,
  end: Omit<Parameters<Lease['release']>[0], 'interrupted'> = {},
): Promise<void> {
  const warn = warnOf(context, file, 'could not release the lease; it will expire')
  await file.lease.release({ interrupted: false, ...end }).catch(warn)
}

const warnOf =
  ({ log }: Pick<UploadContext, 'log'>, { fileId }: Pick<File, 'fileId'>, message: string) =>
  (err: unknown) =>
    log.warn({ err, fileId }, message)

async function conclude(context: UploadContext, file: File, storedAt: readonly StoredAt[]): Promise<Outcome> {
  const { clock } = context
  const done = await record(context, file, (tx) => recordTransferred(tx, file.lease, storedAt, clock.now()))
  if (!done) await leave(context, file)
  return done ?? { kind: 'left' }
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
      provided: holdsWriter(fileId, lease),
    })
  } finally {
    lease.forget()
  }
}

async function giveUpIfRefused(context: UploadContext, file: File, one: Open, judged: Judged): Promise<void> {
  if (judged.kind === 'stored' || (judged.kind === 'left' && judged.refusal === undefined)) return
  const failure =
    judged.kind === 'left'
      ? failureOf(judged.refusal)
      : { reason: judged.end.certainty ?? ('rejected' as const), detail: judged.end.reason }
  await giveUp(context, file, one, failure)
}

/** Abandons a destination. If the database cannot record that, the destination stays open for a later attempt. */
async function giveUp(
  context: UploadContext,
  file: File,
  { dataStoreId }: Open,
  failure: Failure,
): Promise<void> {
  const { db, clock, metrics } = context
  metrics.destinationsFailed.inc({ reason: failure.reason })
  const at = { fileId: file.fileId, dataStoreId }
  await recordDestinationFailure(db, at, failure, clock.now()).catch(
    warnOf(context, file, 'could not abandon a destination; will retry'),
  )
}
