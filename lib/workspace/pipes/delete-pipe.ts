import { and, count, eq } from 'drizzle-orm'
import { z } from 'zod'
import { files, IS_FILE, pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { CoreRuntime, Runtime } from '../../platform/runtime.ts'
import { findPipe } from './read-pipes.ts'

export const deletedPipeAnswer = z.strictObject({ canceledUploads: z.int() })

/** Also cancels the uploads in progress. Transferred files stay, both in Sluice and in the bucket. */
export async function deletePipe(
  { db, clock }: CoreRuntime,
  actor: Actor,
  id: string,
  /** Passed in because uploads are in a layer above Pipes. */
  cancelUploads: (pipeId: string) => Promise<number>,
): Promise<z.output<typeof deletedPipeAnswer>> {
  await db.transaction(async (tx) => {
    const { pipe } = await findPipe(tx, actor, id, 'update')
    const deletedAt = new Date(clock.now())
    await tx.update(pipes).set({ deletedAt, sourceHttp: false }).where(eq(pipes.id, id))
    const entry = { action: 'pipe.deleted', subjectId: id, subjectLabel: pipe.name }
    await recordAudit({ db: tx, clock }, actor, entry)
  })
  return { canceledUploads: await cancelUploads(id) }
}

/** Counts the uploads that deleting the Pipe would cancel. */
export async function previewPipeDeletion(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  id: string,
): Promise<{ uploadsUnderWay: number }> {
  await findPipe(db, actor, id)
  const underWay = and(eq(files.pipeId, id), eq(files.status, 'uploading'), IS_FILE)
  const [row] = await db.select({ n: count() }).from(files).where(underWay)
  return { uploadsUnderWay: row!.n }
}
