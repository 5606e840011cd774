import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Quota, quotaExceeded, reserved } from '../../workspace/usage/reserve.ts'

export type Asked = { quota: Quota; nowMs: number }

/** Reserves the missing bytes of an upload from its workspace's quota, or throws if too few are left. */
export async function reserveRemaining(
  tx: Db,
  workspaceId: string,
  bytes: number,
  { quota, nowMs }: Asked,
): Promise<void> {
  const granted = await rows(
    tx,
    sql`with ${reserved(workspaceId, bytes, quota, nowMs)} select 1 from reserved`,
  )
  if (granted.length === 0) throw await quotaExceeded(tx, workspaceId, { ...quota, bytes }, nowMs)
}
