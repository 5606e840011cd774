import { and, eq, gt, inArray, isNull, notInArray } from 'drizzle-orm'
import { files } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { cancelFile } from './cancel-file.ts'

/** As many as a page shows. */
const MOST = 100
/** So long erased records can be brought back; the sweep removes them after it. */
export const UNDO_MS = minutes(1)

/** Cancels those that are under way, and leaves the others as they are. Answers how many. */
export async function cancelFiles(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>,
  actor: Actor,
  ids: string[],
): Promise<number> {
  let canceled = 0
  for (const id of known(ids)) {
    try {
      await cancelFile(runtime, actor, id)
      canceled += 1
    } catch (error) {
      if (!isSluiceError(error) || error.status >= 500) throw error
    }
  }
  return canceled
}

/** Hides the records of those that have ended, for a minute in which that can be undone. Answers which. */
export async function eraseFiles(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  ids: string[],
): Promise<string[]> {
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
      await recordAudit({ db: tx, clock }, actor, { action: 'file.erased', subjectId: id })
    }
    return erased.map(({ id }) => id)
  })
}

/** Brings back what was erased just now. Answers how many there still were. */
export async function restoreFiles(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  actor: Actor,
  ids: string[],
): Promise<number> {
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
