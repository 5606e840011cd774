import { and, eq, gt, inArray, isNotNull, isNull, notExists, notInArray, sql } from 'drizzle-orm'
import { deliveries, events, fileDestinations, files } from '#drizzle/schema/index.ts'
import type { DecisionInput } from '../../hooks/answers.ts'
import { decideByCall } from '../../hooks/decide-files.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { isSluiceError, SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { cancelUpload, endingContext } from '../../uploads/endings/end-upload.ts'
import type { File } from './file.ts'
import { readFiles } from './list-files.ts'
import { findFile } from './show-file.ts'

type Ending = Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>

/** The number of files on a page. */
const MOST = 100
/** How long erased records can be restored before the sweep removes them. */
export const UNDO_MS = minutes(1)

/** Cancels uploads in progress, and leaves other files unchanged. Returns the number of canceled uploads. */
export const cancelFiles = (runtime: Ending, actor: Actor, ids: string[]) =>
  forEach(ids, (id) => cancelFile(runtime, actor, id))

/** Decides on files that await it, and leaves other files unchanged. Returns the number of decided files. */
export const decideOnFiles = (runtime: Ending, actor: Actor, ids: string[], decision: DecisionInput) =>
  forEach(ids, (id) => decideOnFile(runtime, actor, id, decision))

/** Returns for how many files it succeeded; a file that has changed in the meantime is skipped. */
async function forEach(ids: string[], work: (id: string) => Promise<unknown>): Promise<number> {
  let done = 0
  for (const id of known(ids)) {
    try {
      await work(id)
      done += 1
    } catch (error) {
      if (!isSluiceError(error) || error.status >= 500) throw error
    }
  }
  return done
}

/** Erases the records of ended uploads. This can be undone for a minute. Returns the ids of the erased records. */
export async function eraseFiles({ db, clock }: CoreRuntime, actor: Actor, ids: string[]): Promise<string[]> {
  return db.transaction(async (tx) => {
    const erased = await tx
      .update(files)
      .set({ erasedAt: new Date(clock.now()) })
      .where(
        and(
          mine(actor, ids),
          isNull(files.erasedAt),
          notInArray(files.status, ['uploading', 'transferring']),
        ),
      )
      .returning({ id: files.id })
    for (const { id } of erased) {
      await clearRepairs(tx, id, clock.now())
      await recordAudit({ db: tx, clock }, actor, { action: 'file.erased', subjectId: id })
    }
    return erased.map(({ id }) => id)
  })
}

/** Restores recently erased records. Returns the number of restored records. */
export async function restoreFiles({ db, clock }: CoreRuntime, actor: Actor, ids: string[]): Promise<number> {
  return db.transaction(async (tx) => {
    const restored = await tx
      .update(files)
      .set({ erasedAt: null })
      .where(and(mine(actor, ids), gt(files.erasedAt, new Date(clock.now() - UNDO_MS))))
      .returning({ id: files.id })
    for (const { id } of restored) {
      await recordAudit({ db: tx, clock }, actor, { action: 'file.restored', subjectId: id })
    }
    return restored.length
  })
}

const known = (ids: string[]) => ids.filter(isUuid).slice(0, MOST)
const mine = ({ workspaceId }: Actor, ids: string[]) =>
  and(eq(files.workspaceId, workspaceId), inArray(files.id, known(ids)))

/** Cancels an upload in progress, as its client could. Throws if all its bytes have already arrived. */
export async function cancelFile(runtime: Ending, actor: Actor, id: string): Promise<File> {
  const { db, clock } = runtime
  return db.transaction(async (tx) => {
    const { filename } = await findFile(tx, actor, id)
    await cancelUpload(endingContext({ ...runtime, db: tx }), { fileId: id, workspaceId: actor.workspaceId })
    const entry = { action: 'file.canceled', subjectId: id, subjectLabel: filename }
    await recordAudit({ db: tx, clock }, actor, entry)
    const [file] = await readFiles(tx, [id])
    return file!
  })
}

/** Erases Sluice's record of a file and its webhooks. The object belongs to the customer and stays. */
export async function eraseFile({ db, clock }: CoreRuntime, actor: Actor, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    const file = await findFile(tx, actor, id, 'update')
    if (file.status === 'uploading' || file.status === 'transferring') {
      throw new SluiceError('conflict', 'The upload is in progress. Cancel it first, or wait until it ends.')
    }
    await eraseEvents(tx, id)
    await clearRepairs(tx, id, clock.now())
    if (await awaitsClearing(tx, id)) {
      await tx
        .update(files)
        .set({ erasedAt: new Date(clock.now()) })
        .where(eq(files.id, id))
    } else await tx.delete(files).where(inArray(files.id, [id, ...(file.lanes ?? [])]))
    await recordAudit({ db: tx, clock }, actor, { action: 'file.erased', subjectId: id })
  })
}

/** Keeps events with a pending webhook, which are pruned later. */
async function eraseEvents(tx: Db, id: string): Promise<void> {
  const pending = tx
    .select({ one: sql`1` })
    .from(deliveries)
    .where(and(eq(deliveries.eventId, events.id), eq(deliveries.state, 'pending')))
  await tx.delete(events).where(and(eq(events.fileId, id), notExists(pending)))
}

/** Schedules the deletion of parts copied by an unfinished repair. If the file is restored, the repair starts over. */
async function clearRepairs(tx: Db, id: string, nowMs: number): Promise<void> {
  await tx
    .update(fileDestinations)
    .set({ abortPending: true, abortAt: new Date(nowMs) })
    .where(
      and(
        eq(fileDestinations.fileId, id),
        isNotNull(fileDestinations.repairAt),
        isNotNull(fileDestinations.multipartId),
      ),
    )
}

/** Whether parts are still in the bucket. If so, the row is still needed to find them. */
async function awaitsClearing(tx: Db, id: string): Promise<boolean> {
  const pending = await tx
    .select({ fileId: fileDestinations.fileId })
    .from(fileDestinations)
    .where(and(eq(fileDestinations.fileId, id), eq(fileDestinations.abortPending, true)))
  return pending.length > 0
}

/**
 * Decides on a file whose hook has deferred the decision or has not responded yet: a scan may finish before the hook's
 * response arrives. The object of an allowed file is created within seconds.
 */
export async function decideOnFile(
  runtime: Ending,
  actor: Actor,
  id: string,
  decision: DecisionInput,
): Promise<File> {
  const { db, clock } = runtime
  return db.transaction(async (tx) => {
    const { filename } = await findFile(tx, actor, id, 'update')
    const by = actor.kind === 'account_key' ? 'api' : 'dashboard'
    const outcome = await decideByCall(endingContext({ ...runtime, db: tx }), id, { ...decision, by })
    if (outcome === 'not open')
      throw new SluiceError(
        'conflict',
        'This file is not waiting for a decision, or a different decision has been made.',
      )
    const action = decision.allow ? 'file.allowed' : 'file.rejected'
    if (outcome === 'stored')
      await recordAudit({ db: tx, clock }, actor, { action, subjectId: id, subjectLabel: filename })
    const [file] = await readFiles(tx, [id])
    return file!
  })
}
