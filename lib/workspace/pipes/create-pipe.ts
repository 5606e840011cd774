import { pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { takeCreation } from '../../identity/take-creation.ts'
import { newPipeId } from '../../platform/kernel/ids.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import { assertStorable, saveDestinations } from './destinations.ts'
import { type Pipe, type PipeInput, toPipe } from './pipe.ts'

export async function createPipe(
  { db, clock, config }: ConfiguredRuntime,
  actor: Actor,
  { destinations, source, ...input }: PipeInput,
): Promise<Pipe> {
  const id = newPipeId()
  const now = new Date(clock.now())
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'Pipes')
    const [row] = await tx
      .insert(pipes)
      .values({
        id,
        workspaceId: actor.workspaceId,
        ...input,
        sourceHttp: source.http ?? false,
        sourceUrl: source.url ?? false,
        sourceSftp: source.sftp ?? false,
        sourceFtps: source.ftps ?? false,
        sourceFtp: source.ftp ?? false,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    await saveDestinations(tx, actor, id, destinations)
    await assertStorable(tx, destinations, row!.object)
    const entry = { action: 'pipe.created', subjectId: id, subjectLabel: input.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toPipe(row!, destinations, config)
  })
}
