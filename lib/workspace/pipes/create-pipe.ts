import { and, eq, isNull } from 'drizzle-orm'
import { dataStores, pipeDestinations, pipes } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { takeCreation } from '../../identity/take-creation.ts'
import type { Db } from '../../platform/db/database.ts'
import { invalidRequest } from '../../platform/kernel/errors.ts'
import { newPipeId } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type Pipe, type PipeInput, toPipe } from './pipe.ts'

export async function createPipe(
  { db, clock, config }: Pick<Runtime, 'db' | 'clock' | 'config'>,
  actor: Actor,
  { dataStoreId, source, ...input }: PipeInput,
): Promise<Pipe> {
  const id = newPipeId()
  const now = new Date(clock.now())
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'Pipes')
    await lockDataStore(tx, actor, dataStoreId)
    const [row] = await tx
      .insert(pipes)
      .values({
        id,
        workspaceId: actor.workspaceId,
        ...input,
        sourceHttp: source.http,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    await tx.insert(pipeDestinations).values({ pipeId: id, dataStoreId })
    const entry = { action: 'pipe.created', subjectId: id, subjectLabel: input.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toPipe(row!, dataStoreId, config)
  })
}

/** The Data Store that a Pipe is to use: it exists, is the actor's, and cannot be deleted until this commits. */
export async function lockDataStore(tx: Db, actor: Actor, id: string): Promise<void> {
  const found = await tx
    .select({ id: dataStores.id })
    .from(dataStores)
    .where(
      and(eq(dataStores.id, id), eq(dataStores.workspaceId, actor.workspaceId), isNull(dataStores.deletedAt)),
    )
    .for('share')
  if (found.length === 0)
    throw invalidRequest([{ field: 'dataStoreId', message: 'is no Data Store of yours' }])
}
