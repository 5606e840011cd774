import { retirePartials } from '../concatenation/partials.ts'
import { type Kept, keepMonths } from '../platform/db/months.ts'
import { days, minutes, seconds } from '../platform/kernel/clock.ts'
import type { Sweep } from '../platform/sweeps.ts'
import { repairDestinations } from '../repairs/repair-destinations.ts'
import { endUpload, failInterrupted } from '../uploads/endings/end-upload.ts'
import { findInterrupted, findLate, isLate, LATE_AT_ONCE } from '../uploads/ledger/open-uploads.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { countUncountedBytes } from '../workspace/usage/count-bytes.ts'
import { lapseReservations } from '../workspace/usage/reserve.ts'
import { CLEARED_AT_ONCE, clearLeftovers } from './clear-leftovers.ts'
import { deletesOwnerlessBytes } from './ownerless-bytes.ts'
import { reconcileUploads } from './reconcile.ts'

export function uploadSweeps(context: UploadContext): Sweep[] {
  return [
    { name: 'reconcile uploads', everyMs: seconds(2), run: () => reconcileUploads(context) },
    {
      name: 'repair destinations',
      everyMs: seconds(2),
      batch: 1,
      run: () => repairDestinations(context),
    },
    { name: 'end interrupted uploads', everyMs: seconds(15), run: () => endInterruptedUploads(context) },
    {
      name: 'expire uploads',
      everyMs: minutes(1),
      batch: LATE_AT_ONCE,
      run: () => expireUploads(context),
    },
    {
      name: 'abort multipart uploads',
      everyMs: minutes(1),
      batch: CLEARED_AT_ONCE,
      run: () => clearLeftovers(context),
    },
    {
      name: 'count the bytes of dead requests',
      everyMs: seconds(30),
      run: () => countUncountedBytes(context),
    },
    { name: 'delete ownerless bytes', everyMs: minutes(1), run: deletesOwnerlessBytes(context) },
    { name: 'lapse reservations', everyMs: minutes(5), run: () => lapseReservations(context) },
    { name: 'monthly timelines', everyMs: minutes(10), run: () => keepTimelines(context) },
  ]
}

export const TIMELINES: Kept = { tables: ['file_timeline'], keptMs: days(365) }

export const keepTimelines = ({ db, clock }: Pick<UploadContext, 'db' | 'clock'>): Promise<number> =>
  keepMonths(db, TIMELINES, clock.now())

/** Fails uploads of clients that cannot resume, whose request ended when its node died. */
export async function endInterruptedUploads(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
): Promise<number> {
  const found = await findInterrupted(context.db)
  let ended = 0
  for (const fileId of found) if (await failInterrupted(context, fileId)) ended += 1
  return ended
}

/** Ends uploads that were not finished in time, except those that are being written or have all their bytes. */
export async function expireUploads(
  context: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
): Promise<number> {
  const { db, clock } = context
  const nowMs = clock.now()
  let ended = 0
  for (const { id, droppedAfterHours } of await findLate(db, nowMs)) {
    const reason = droppedAfterHours
      ? `The upload was not finished within ${droppedAfterHours} hours of its start; the bucket deletes unfinished uploads after that.`
      : 'The upload was not finished in time.'
    const end = { status: 'expired', reason, from: ['uploading'], provided: isLate(nowMs) } as const
    if (await endUpload(context, id, end)) ended += 1
  }
  return ended + (await retirePartials(db, clock.now()))
}
