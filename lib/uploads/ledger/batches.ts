import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Batch } from '../rules/batch.ts'

/**
 * Call this first in the transaction that creates files. It creates missing batches, and keeps all of them open until
 * the commit: sealing a batch waits for transactions that are adding to it, so that a sealed batch gets no more
 * files.
 */
export async function joinBatches(
  tx: Db,
  uploads: readonly { batch: Batch | null }[],
  nowMs: number,
): Promise<void> {
  const wanted = uploads.flatMap(({ batch }) => batch ?? [])
  if (wanted.length === 0) return
  const distinct = [...new Map(wanted.map((batch) => [batch.id, batch])).values()]
  const named = sql`json_to_recordset(${JSON.stringify(distinct)}::json) as wanted(id uuid, "workspaceId" uuid,
    "pipeId" text, "senderId" uuid, subject text, name text, "byToken" boolean)`
  await tx.execute(sql`
    insert into batches (id, workspace_id, pipe_id, sender_id, subject, name, by_token, created_at)
    select id, "workspaceId", "pipeId", "senderId", subject, name, "byToken", ${new Date(nowMs).toISOString()}::timestamptz
    from ${named} order by id on conflict do nothing`)
  const held = await rows<{ name: string; isSealed: boolean }>(
    tx,
    sql`select name, sealed_at is not null as "isSealed" from batches
      where id in (select id from ${named}) order by id for share`,
  )
  const sealed = held.find(({ isSealed }) => isSealed)
  if (sealed) throw new SluiceError('batch_sealed', `The batch “${sealed.name}” is sealed. Start a new one.`)
}
