import { sql } from 'drizzle-orm'
import { BATCHES_AT_ONCE, completeBatches } from '../lib/batches/complete-batches.ts'
import { UNDO_MS } from '../lib/dashboard/files/act-on-files.ts'
import { ENTRIES_AT_ONCE, pruneEntries } from '../lib/folders/entries.ts'
import { closeDeletedWorkspaces, removeLeftWorkspaces } from '../lib/identity/workspaces/delete-workspace.ts'
import { type Db, rows } from '../lib/platform/db/database.ts'
import { days, minutes, seconds } from '../lib/platform/kernel/clock.ts'
import type { Runtime } from '../lib/platform/runtime.ts'
import type { Sweep } from '../lib/platform/sweeps.ts'
import {
  cancelUploadsOfDeletedPipes,
  cancelUploadsToTurnedOffDataStores,
} from '../lib/recovery/cancel-uploads.ts'
import { certificateSweeps } from '../lib/upload-links/host-certificates.ts'
import { forgetRejections } from '../lib/workspace/data-stores/rejections.ts'
import { notifyOwners } from '../lib/workspace/notices/notify-owners.ts'
import { sweepAlerts } from '../lib/workspace/notices/sweep-alerts.ts'
import { foldTallies, pruneCounts } from '../lib/workspace/usage/fold-tallies.ts'
import { backlogSweep } from './measure-backlog.ts'

const BATCH = 1000

export function controlSweeps(runtime: Runtime): Sweep[] {
  const { db, clock } = runtime
  return [
    backlogSweep(runtime),
    ...certificateSweeps(runtime),
    {
      name: 'complete batches',
      everyMs: seconds(2),
      batch: BATCHES_AT_ONCE,
      run: () => completeBatches(runtime),
    },
    { name: 'notices', everyMs: seconds(15), run: () => notifyOwners(runtime) },
    { name: 'alerts', everyMs: seconds(15), run: () => sweepAlerts(runtime) },
    {
      name: 'uploads of deleted Pipes',
      everyMs: minutes(1),
      run: () => cancelUploadsOfDeletedPipes(runtime),
    },
    {
      name: 'uploads to Data Stores that are off',
      everyMs: minutes(1),
      run: () => cancelUploadsToTurnedOffDataStores(runtime),
    },
    { name: 'outdated bucket rejections', everyMs: seconds(15), run: () => forgetRejections(runtime) },
    { name: 'counts', everyMs: seconds(3), routine: true, run: () => foldTallies(runtime) },
    { name: 'old counts', everyMs: minutes(30), run: () => pruneCounts(runtime) },
    { name: 'deleted workspaces', everyMs: minutes(5), run: () => closeDeletedWorkspaces(runtime) },
    { name: 'workspaces without members', everyMs: minutes(5), run: () => removeLeftWorkspaces(db) },
    {
      name: 'unlisted SFTP entries',
      everyMs: minutes(5),
      batch: ENTRIES_AT_ONCE,
      run: () => pruneEntries(db, clock.now()),
    },
    {
      name: 'obsolete rows',
      everyMs: minutes(1),
      batch: BATCH,
      run: () => pruneExpired(db, clock.now()),
    },
  ]
}

/** Deletes one batch of each kind of obsolete row. */
export async function pruneExpired(db: Db, nowMs: number): Promise<number> {
  const before = (ms: number) => sql`${new Date(nowMs - ms).toISOString()}::timestamptz`
  const prunes = [
    sql`delete from rate_limits where ctid = any(array(
      select ctid from rate_limits where updated_at < ${before(days(1))} limit ${BATCH})) returning 1`,
    sql`delete from idempotency_keys where ctid = any(array(
      select ctid from idempotency_keys where created_at < ${before(days(1))} limit ${BATCH})) returning 1`,
    sql`delete from creation_keys where id = any(array(
      select id from creation_keys where created_at < ${before(days(1))} limit ${BATCH})) returning 1`,
    sql`delete from email_links where expires_at < ${before(days(7))} returning 1`,
    // Saves the times of the account's first and last use in `users`. Nodes of an older version only recorded them in
    // the session.
    sql`with gone as (delete from sessions where id = any(array(
        select id from sessions where expires_at < ${before(days(7))} limit ${BATCH}))
        returning user_id, created_at, last_seen_at),
      noted as (update users u set entered_at = coalesce(u.entered_at, of_user.first),
          last_seen_at = greatest(u.last_seen_at, of_user.last)
        from (select user_id, min(created_at) as first, max(last_seen_at) as last from gone group by user_id) of_user
        where u.id = of_user.user_id)
      select 1 from gone`,
    // A token stays valid for its uploads until they end, which is at most 30 days after their creation.
    sql`delete from tokens where id = any(array(
      select id from tokens where expires_at < ${before(days(31))} order by expires_at limit ${BATCH})) returning 1`,
    // Events that still have pending deliveries are pruned later, by age.
    sql`delete from events e using files f where f.erased_at < ${before(UNDO_MS)} and e.file_id = f.id and not exists (
      select from deliveries d where d.event_id = e.id and d.state = 'pending') returning 1`,
    sql`with gone as (
        delete from files f where f.erased_at < ${before(UNDO_MS)} and not exists (
          select from file_destinations d where d.file_id = f.id and d.abort_pending) returning lanes),
      unlaned as (delete from files lane using gone where lane.id = any(gone.lanes))
      select 1 from gone`,
  ]
  let pruned = 0
  for (const prune of prunes) pruned += (await rows(db, prune)).length
  return pruned
}
