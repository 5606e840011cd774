import { eq } from 'drizzle-orm'
import { pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import { assertKeepsKeys, saveDestinations } from './destinations.ts'
import { type Pipe, type PipeChanges, toPipe } from './pipe.ts'
import { findPipe } from './read-pipes.ts'

/** Uploads under way keep the bucket, key and limits that they began with. */
export async function updatePipe(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  id: string,
  changes: PipeChanges,
): Promise<Pipe> {
  const { destinations, source, ...fields } = changes
  return db.transaction(async (tx) => {
    const before = await findPipe(tx, actor, id, 'update')
    if (destinations) await saveDestinations(tx, actor, id, destinations)
    const [row] = await tx
      .update(pipes)
      .set({
        ...fields,
        sourceHttp: source?.http,
        sourceUrl: source?.url,
        sourceSftp: source?.sftp,
        updatedAt: new Date(clock.now()),
      })
      .where(eq(pipes.id, id))
      .returning()
    if (destinations || changes.object)
      await assertKeepsKeys(tx, destinations ?? before.destinations, row!.object)
    const entry = { action: 'pipe.updated', subjectId: id, subjectLabel: row!.name, detail: { changes } }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toPipe(row!, destinations ?? before.destinations, config)
  })
}
