import { contentTypeOf } from '../media-types/content-type.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { retryDelayMs } from '../platform/kernel/retry-schedule.ts'
import { within } from '../platform/kernel/waits.ts'
import type { Judged } from '../uploads/finish/create-object.ts'
import type { StoredObject } from '../uploads/ledger/transferred.ts'
import { classify } from '../uploads/rules/faults.ts'
import { statusOf } from '../uploads/rules/file-status.ts'
import { busyWith, inBackground, type UploadContext } from '../uploads/upload-context.ts'
import { type CopyPlaces, ObjectCopy } from './object-copy.ts'
import {
  claimRepairs,
  giveRepairBack,
  markRepaired,
  type Repair,
  type RepairClaim,
  recordCleared,
  recordFailedAttempt,
  recordRepaired,
  renewRepair,
} from './repair-claims.ts'
import { NO_SOURCE } from './request-repair.ts'

/** How many objects one node copies at the same time. */
const AT_ONCE = 8
const AT_ONCE_PER_BUCKET = 2

/**
 * Copies objects to best-effort destinations that are missing them, from a destination that can be read. After a
 * crash, any node continues after the last recorded part. Returns how many copies were started.
 */
export async function repairDestinations(context: UploadContext): Promise<number> {
  const { db, clock, stopping, terms } = context
  const busy = busyWith(context, 'repair')
  if (busy.length >= AT_ONCE || stopping.signal.aborted) return 0
  const claimed = await claimRepairs(db, terms.leaseMs, {
    limit: AT_ONCE - busy.length,
    limitPerBucket: AT_ONCE_PER_BUCKET,
    busy,
    nowMs: clock.now(),
  })
  const attempts = claimed.map((repair) =>
    inBackground(context, attempt(context, repair), { kind: 'repair', of: repair.dataStoreId }),
  )
  await within(terms.reconcileMs, Promise.all(attempts))
  return claimed.length
}

async function attempt(context: UploadContext, repair: Repair): Promise<void> {
  const { stopping, log } = context
  const lost = new AbortController()
  const signal = AbortSignal.any([lost.signal, stopping.signal])
  const endRenewal = renewClaim(context, repair, lost)
  try {
    const { judged, isProgress } = await copy(context, repair, signal)
    if (judged.kind === 'stored') await succeed(context, repair, judged)
    else if (stopping.signal.aborted) await giveRepairBack(context.db, repair)
    else await fail(context, repair, judged, isProgress)
  } catch (err) {
    // There will be another attempt once the claim has expired.
    log.warn({ err, fileId: repair.fileId }, 'could not record a repair; will retry')
  } finally {
    endRenewal()
  }
}

/**
 * A late renewal does not have to stop the copy: two simultaneous copies do no harm, because only one records the
 * result.
 */
function renewClaim({ db, terms, log }: UploadContext, repair: Repair, lost: AbortController): () => void {
  const renew = () =>
    renewRepair(db, repair, terms.leaseMs).then(
      (isHeld) => isHeld || lost.abort(),
      (err: unknown) => log.warn({ err, fileId: repair.fileId }, 'could not renew the claim of a repair'),
    )
  const timer = setInterval(renew, terms.renewMs)
  return () => clearInterval(timer)
}

async function copy(
  context: UploadContext,
  repair: Repair,
  signal: AbortSignal,
): Promise<{ judged: Judged; isProgress: boolean }> {
  try {
    const places = openPlaces(context, repair)
    const ready = repair.abortPending ? await clear(context, repair, places, signal) : repair
    const copying = new ObjectCopy(context, ready, places, signal)
    const judged = await copying.run()
    return { judged, isProgress: copying.isProgress }
  } catch (refusal) {
    return { judged: { kind: 'left', refusal, isCertain: true }, isProgress: false }
  }
}

/** Each attempt reads from the next source, because a source may be down, or its object may have been replaced. */
function openPlaces({ openBucket }: UploadContext, repair: Repair): CopyPlaces {
  const { dataStore, sources, failures, key, filetype, object } = repair
  if (dataStore.state === 'off')
    throw new SluiceError('data_store_not_ready', 'The Data Store is turned off.')
  const source = sources[failures % sources.length]
  if (!source) throw new SluiceError('conflict', NO_SOURCE)
  return {
    source: { bucket: openBucket(source.dataStore), key: source.key },
    target: {
      bucket: openBucket(dataStore),
      key,
      contentType: contentTypeOf(filetype),
      object,
      mayRead: dataStore.mayRead,
    },
  }
}

/** Aborts the abandoned multipart upload, if the credentials allow it. */
async function clear(
  { db }: UploadContext,
  repair: Repair,
  { target: { bucket, key } }: CopyPlaces,
  signal: AbortSignal,
): Promise<Repair> {
  const { multipartId } = repair
  if (multipartId)
    await bucket.abortMultipart({ key, multipartId }, { signal }).catch((fault: unknown) => {
      const { mayAbort: mayClear } = repair.dataStore
      if (classify(fault, 'clear', { mayClear }).remedy === 'release') throw fault
    })
  await recordCleared(db, repair)
  return { ...repair, multipartId: null, abortPending: false }
}

async function succeed(
  context: UploadContext,
  repair: Repair,
  { object }: Extract<Judged, { kind: 'stored' }>,
): Promise<void> {
  if (!(await recordCopied(context, repair, object))) return
  context.metrics.repairs.inc({ outcome: 'repaired' })
  context.checkpoint('transferred')
}

/**
 * The file becomes `transferred`, with another event, once no destination is missing the object. False if the claim was
 * lost.
 */
function recordCopied(
  { db, clock, emitRepaired }: UploadContext,
  repair: RepairClaim,
  object: StoredObject,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const destinations = await recordRepaired(tx, repair, object, clock.now())
    if (!destinations) return false
    if (statusOf(destinations) !== 'transferred') return true
    await markRepaired(tx, repair.fileId)
    await emitRepaired(tx, repair.fileId)
    return true
  })
}

/**
 * Records a failed attempt. The next attempt starts over if the copied parts are useless, because the bucket no longer
 * has them or they were copied from a different object.
 */
async function fail(
  { db, clock, metrics }: UploadContext,
  repair: Repair,
  judged: Exclude<Judged, { kind: 'stored' }>,
  isProgress: boolean,
): Promise<void> {
  metrics.repairs.inc({ outcome: 'failed' })
  const startsOver = judged.kind === 'failed'
  const detail = startsOver ? judged.end.reason : (judged.refusal as Error).message
  const failures = repair.failures + (isProgress && !startsOver ? 0 : 1)
  const delayMs = retryDelayMs(Math.max(failures, 1), Math.random())
  const retryAtMs = delayMs === undefined ? undefined : clock.now() + delayMs
  await recordFailedAttempt(db, repair, { detail, startsOver, failures, retryAtMs }, clock.now())
}
