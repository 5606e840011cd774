import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Clock, hours } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { countBytes, deltas, monthOf } from './count-bytes.ts'

/** The default quota of workspaces; 0 means unlimited. */
export type Quota = { limitBytes: number }

/** A workspace's quota: the one that the operator has set for it (`npm run admin -- account`), or the default. */
export function limitOf(workspaceId: SQL, { limitBytes }: Quota): SQL {
  return sql`coalesce((select transfer_limit_bytes from workspaces where id = ${workspaceId}), ${limitBytes}::bigint)`
}

/**
 * A CTE that reserves `bytes` of the month's quota. It has one row, or none if the quota is too small. It locks the
 * month's row while deciding, so that concurrent creations never exceed the limit together.
 */
export function reserved(workspaceId: string, bytes: number, quota: Quota, nowMs: number): SQL {
  const limit = limitOf(sql`${workspaceId}::uuid`, quota)
  const fits = (used: SQL) =>
    quota.limitBytes === 0 ? sql`true` : sql`(${limit} = 0 or ${used} + ${bytes}::bigint <= ${limit})`
  return sql`
    reserved as (
      insert into usage_months as u (workspace_id, month, used_bytes, reserved_bytes)
      select ${workspaceId}::uuid, ${monthOf(nowMs)}, 0, ${bytes}::bigint where ${fits(sql`0`)}
      on conflict (workspace_id, month) do update set reserved_bytes = u.reserved_bytes + excluded.reserved_bytes
        where ${fits(sql`u.used_bytes + u.reserved_bytes`)}
      returning 1
    )`
}

/** Call this after counting bytes, in the same transaction: the month's row is then locked, so the check is exact. */
export async function assertWithinQuota(tx: Db, fileId: string, quota: Quota, nowMs: number): Promise<void> {
  if (quota.limitBytes === 0) return
  const limit = limitOf(sql`f.workspace_id`, quota)
  const [over] = await rows<{ workspaceId: string }>(
    tx,
    sql`select f.workspace_id as "workspaceId" from usage_months u join files f on f.workspace_id = u.workspace_id
      where f.id = ${fileId}::uuid and u.month = ${monthOf(nowMs)}
        and ${limit} > 0 and u.used_bytes + u.reserved_bytes > ${limit}`,
  )
  if (over) throw await quotaExceeded(tx, over.workspaceId, { ...quota, bytes: 0 }, nowMs)
}

/** States how many bytes are needed and left, and when the quota resets, if waiting would help. */
export async function quotaExceeded(
  db: Db,
  workspaceId: string,
  { bytes, ...quota }: Quota & { bytes: number },
  nowMs: number,
): Promise<SluiceError> {
  const [month] = await rows<{ taken: number; limitBytes: number }>(
    db,
    sql`select ${limitOf(sql`${workspaceId}::uuid`, quota)} as "limitBytes", coalesce((
      select used_bytes + reserved_bytes from usage_months
      where workspace_id = ${workspaceId}::uuid and month = ${monthOf(nowMs)}), 0) as taken`,
  )
  const { taken, limitBytes } = month!
  const leftBytes = Math.max(limitBytes - taken, 0)
  const left =
    leftBytes === 0
      ? `This month's transfer quota, ${limitBytes} bytes, is used up`
      : `The upload needs ${bytes} bytes, but only ${leftBytes} are left of this month's transfer quota of ${limitBytes}`
  const remedy =
    bytes > limitBytes
      ? `The entire monthly quota is smaller than the ${bytes} bytes of this upload.`
      : `It resets on ${resetOf(nowMs)} at 00:00 UTC.`
  return new SluiceError('quota_exceeded', `${left}. ${remedy}`)
}

function resetOf(nowMs: number): string {
  const now = new Date(nowMs)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10)
}

const LAPSE_AFTER_MS = hours(1)
const BATCH = 500

/**
 * Releases the quota reserved for uploads that have received no bytes for an hour, and counts their uncounted bytes.
 * The quota is reserved again when they resume. A writer whose lease has expired loses the lease, since it still relies
 * on the reservation.
 */
export async function lapseReservations({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const nowMs = clock.now()
  const before = new Date(nowMs - LAPSE_AFTER_MS).toISOString()
  const lapsed = await rows(
    db,
    sql`
    with idle as (
      select id, reserved_bytes, counted_bytes from files
      where reserved_bytes > 0 and coalesce(last_byte_at, created_at) < ${before}::timestamptz
        and (lease_until is null or lease_until < now())
      limit ${BATCH}::int for update skip locked
    ), lapsed as (
      update files f set reserved_bytes = 0, counted_bytes = f.offset_bytes, lease_holder = null
      from idle where f.id = idle.id
      returning f.id, ${deltas(sql`idle`)}
    ), ${countBytes(sql`lapsed`, nowMs)}
    select id from lapsed`,
  )
  return lapsed.length
}
