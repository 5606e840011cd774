import { type SQL, sql } from 'drizzle-orm'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { retirePartials } from '../concatenation/partials.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { type Kept, keepMonths } from '../platform/db/months.ts'
import { days, minutes, seconds } from '../platform/kernel/clock.ts'
import type { Sweep } from '../platform/sweeps.ts'
import { repairDestinations } from '../repairs/repair-destinations.ts'
import { endUpload, failInterrupted } from '../uploads/endings/end-upload.ts'
import { isFree } from '../uploads/ledger/lease-terms.ts'
import { lacksBytes } from '../uploads/ledger/open-uploads.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { countUncountedBytes } from '../workspace/usage/count-bytes.ts'
import { lapseReservations } from '../workspace/usage/reserve.ts'
import { COMPLETED_BY_CLIENT } from './claim-transferring.ts'
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

const INTERRUPTED_AT_ONCE = 100
/** The protocol whose clients send a file in one request and cannot resume it. */
const NOT_RESUMABLE = 'http' satisfies FileProtocol

/** Unfinished uploads whose only request has ended. */
async function findInterrupted(db: Db): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select id from files where status = 'uploading' and protocol = ${NOT_RESUMABLE} and ${lacksBytes} order by id limit ${INTERRUPTED_AT_ONCE}::int`,
  )
  return found.map(({ id }) => id)
}

export const LATE_AT_ONCE = 100
/** Uploads expire earlier than this if their bucket deletes unfinished ones sooner. */
const MAX_AGE_DAYS = 30

/**
 * A condition on an `uploading` row of `files`: it has expired, nobody is writing it, and it is incomplete. An import
 * may be waiting for its turn or its source, so its worker ends it; here, it only expires at `expires_by`.
 */
function isLate(nowMs: number): SQL {
  return sql`lane_of is null and expires_at <= ${new Date(nowMs).toISOString()}::timestamptz
    and (protocol <> 'url' or expires_at = expires_by) and ${isFree} and (offset_bytes is distinct from length_bytes or protocol = ${COMPLETED_BY_CLIENT})`
}

function findLate(db: Db, nowMs: number): Promise<{ id: string; droppedAfterHours: number | null }[]> {
  return rows(
    db,
    sql`select id, case when expires_at = expires_by and expires_by < created_at + ${MAX_AGE_DAYS}::int * interval '1 day'
      then floor(extract(epoch from expires_by - created_at) / 3600)::int end as "droppedAfterHours"
    from files where status = 'uploading' and ${isLate(nowMs)} order by expires_at, id limit ${LATE_AT_ONCE}::int`,
  )
}
