import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../db/database.ts'
import { SluiceError } from '../kernel/errors.ts'
import { monthOf } from './count-bytes.ts'

/** 0 is unlimited. */
export type Quota = { limitBytes: number }

/**
 * A CTE that reserves `bytes` of the month and has one row, or none if the quota does not allow them. The row of the
 * month is locked while it decides, so that any number of creations at once never pass the limit together.
 */
export function reserved(workspaceId: string, bytes: number, { limitBytes }: Quota, nowMs: number): SQL {
  const fits = (used: SQL) =>
    limitBytes === 0 ? sql`true` : sql`${used} + ${bytes}::bigint <= ${limitBytes}::bigint`
  return sql`
    reserved as (
      insert into usage_months as u (workspace_id, month, used_bytes, reserved_bytes)
      select ${workspaceId}::uuid, ${monthOf(nowMs)}, 0, ${bytes}::bigint where ${fits(sql`0`)}
      on conflict (workspace_id, month) do update set reserved_bytes = u.reserved_bytes + excluded.reserved_bytes
        where ${fits(sql`u.used_bytes + u.reserved_bytes`)}
      returning 1
    )`
}

/** After bytes were counted, in the same transaction: the month's row is locked, so the answer is exact. */
export async function assertWithinQuota(
  tx: Db,
  fileId: string,
  { limitBytes }: Quota,
  nowMs: number,
): Promise<void> {
  if (limitBytes === 0) return
  const over = await rows(
    tx,
    sql`select 1 from usage_months u join files f on f.workspace_id = u.workspace_id
      where f.id = ${fileId}::uuid and u.month = ${monthOf(nowMs)} and u.used_bytes + u.reserved_bytes > ${limitBytes}::bigint`,
  )
  if (over.length > 0) throw quotaExceeded(nowMs)
}

export function quotaExceeded(nowMs: number): SluiceError {
  const now = new Date(nowMs)
  const reset = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString()
  return new SluiceError(
    'quota_exceeded',
    `The transfer quota of this month is used up. It resets on ${reset.slice(0, 10)} at 00:00 UTC.`,
  )
}
