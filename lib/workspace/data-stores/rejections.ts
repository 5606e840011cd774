import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import type { Runtime } from '../../platform/runtime.ts'

type Rejecting = { id: string; name: string; since: Date; reason: string }

/** The Data Stores that currently reject uploads, starting with the one that has rejected them the longest. */
export async function listRejecting(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<Rejecting[]> {
  const found = await db
    .select({
      id: dataStores.id,
      name: dataStores.name,
      since: dataStores.rejectingSince,
      reason: dataStores.rejection,
    })
    .from(dataStores)
    .where(
      and(
        eq(dataStores.workspaceId, workspaceId),
        isNull(dataStores.deletedAt),
        isNotNull(dataStores.rejectingSince),
      ),
    )
    .orderBy(asc(dataStores.rejectingSince))
  return found.map(({ since, reason, ...store }) => ({ ...store, since: since!, reason: reason ?? '' }))
}

const AGAIN_MS = 60_000
/** Uploads started up to this long before the rejection also show that the bucket works, if they finished after it. */
const BEFORE_MS = 3_600_000

/**
 * Checks every minute whether a bucket that rejected an upload has accepted one since. It only queries the database: a
 * bucket check would write objects to the customer's bucket that the keys may not be allowed to delete.
 */
export async function forgetRejections({ db, clock }: { db: Db; clock: Clock }): Promise<number> {
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  const due = await rows<{ id: string }>(
    db,
    sql`update data_stores set recheck_at = ${now} + ${AGAIN_MS}::int * interval '1 millisecond'
      where id in (
        select id from data_stores where rejecting_since is not null and recheck_at <= ${now} and deleted_at is null
        order by recheck_at limit 100 for update skip locked
      )
      returning id`,
  )
  if (due.length === 0) return 0
  // File ids start with their creation time.
  const firstId = sql`(lpad(to_hex(floor(extract(epoch from ds.rejected_at) * 1000)::bigint - ${BEFORE_MS}::bigint), 12, '0')
    || '00000000000000000000')::uuid`
  const forgotten = await rows(
    db,
    sql`update data_stores ds set rejecting_since = null, rejection = null, rejected_at = null, recheck_at = null
      where ds.id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(due.map(({ id }) => id))}::jsonb))
        and exists (
          select from files f join file_destinations d on d.file_id = f.id
          where f.workspace_id = ds.workspace_id and d.status = 'transferred' and f.id >= ${firstId}
            and f.finished_at > ds.rejected_at and d.data_store_id = ds.id
        )
      returning ds.id`,
  )
  return forgotten.length
}
