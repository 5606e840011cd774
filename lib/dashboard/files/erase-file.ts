import { and, eq, notExists, sql } from 'drizzle-orm'
import { deliveries, events, fileDestinations, files } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findFile } from './find-file.ts'

/** Erases Sluice's record, with the webhooks that told of it; the object is the customer's and stays. */
export async function eraseFile(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  id: string,
): Promise<void> {
  await db.transaction(async (tx) => {
    const file = await findFile(tx, actor, id, 'update')
    if (file.status === 'uploading' || file.status === 'transferring') {
      throw new SluiceError('conflict', 'The upload is under way. Cancel it first, or wait until it ends.')
    }
    await eraseEvents(tx, id)
    if (await awaitsClearing(tx, id)) {
      await tx
        .update(files)
        .set({ erasedAt: new Date(clock.now()) })
        .where(eq(files.id, id))
    } else await tx.delete(files).where(eq(files.id, id))
    await recordAudit({ db: tx, clock }, actor, { action: 'file.erased', subjectId: id })
  })
}

/** A webhook that is still to be delivered keeps its event, which is pruned later. */
async function eraseEvents(tx: Db, id: string): Promise<void> {
  const pending = tx
    .select({ one: sql`1` })
    .from(deliveries)
    .where(and(eq(deliveries.eventId, events.id), eq(deliveries.state, 'pending')))
  await tx.delete(events).where(and(eq(events.fileId, id), notExists(pending)))
}

/** Its parts are still in the bucket, and the row is how they are found. */
async function awaitsClearing(tx: Db, id: string): Promise<boolean> {
  const pending = await tx
    .select({ fileId: fileDestinations.fileId })
    .from(fileDestinations)
    .where(and(eq(fileDestinations.fileId, id), eq(fileDestinations.abortPending, true)))
  return pending.length > 0
}
