import { sql } from 'drizzle-orm'
import { rows } from '../db/database.ts'
import { isSluiceError } from '../kernel/errors.ts'
import type { Runtime } from '../runtime.ts'
import { checkDataStore } from './check-data-store.ts'

const AT_ONCE = 10
const AGAIN_MS = 60_000

/** Looks each minute whether a bucket that rejected uploads takes them again, so that nobody is told of it for longer. */
export async function recheckRejecting(
  runtime: Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>,
): Promise<number> {
  const now = sql`${new Date(runtime.clock.now()).toISOString()}::timestamptz`
  const due = await rows<{ id: string; workspaceId: string }>(
    runtime.db,
    sql`update data_stores set recheck_at = ${now} + ${AGAIN_MS}::int * interval '1 millisecond'
      where id in (
        select id from data_stores
        where rejecting_since is not null and recheck_at <= ${now} and deleted_at is null
        order by recheck_at limit ${AT_ONCE} for update skip locked
      )
      returning id, workspace_id as "workspaceId"`,
  )
  const checks = due.map(({ id, workspaceId }) =>
    checkDataStore(runtime, { workspaceId, kind: 'system', id: null, label: 'Sluice' }, id).catch((error) => {
      if (!isSluiceError(error)) throw error
    }),
  )
  await Promise.all(checks)
  return due.length
}
