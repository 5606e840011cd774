import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../audit/record-audit.ts'
import type { Runtime } from '../runtime.ts'
import { cancelUploadsOf, countUploadsUnderWay } from './cancel-uploads.ts'
import { findPipe } from './find-pipe.ts'

export const deletedPipeAnswer = z.strictObject({ canceledUploads: z.int() })

/** Its uploads under way are canceled; files that arrived stay, in Sluice and in the bucket. */
export async function deletePipe(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>,
  actor: Actor,
  id: string,
): Promise<z.output<typeof deletedPipeAnswer>> {
  const { db, clock } = runtime
  await db.transaction(async (tx) => {
    const { pipe } = await findPipe(tx, actor, id, 'update')
    const deletedAt = new Date(clock.now())
    await tx.update(pipes).set({ deletedAt, sourceHttp: false }).where(eq(pipes.id, id))
    const entry = { action: 'pipe.deleted', subjectId: id, subjectLabel: pipe.name }
    await recordAudit({ db: tx, clock }, actor, entry)
  })
  return { canceledUploads: await cancelUploadsOf(runtime, id) }
}

/** To say, before it is done, what deleting would cancel. */
export async function previewPipeDeletion(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  id: string,
): Promise<{ uploadsUnderWay: number }> {
  await findPipe(db, actor, id)
  return { uploadsUnderWay: await countUploadsUnderWay(db, id) }
}
