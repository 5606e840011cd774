import { and, eq, isNull } from 'drizzle-orm'
import { pipeDestinations, pipes } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isPipeId } from '../../platform/kernel/ids.ts'

type Found = { pipe: typeof pipes.$inferSelect; dataStoreId: string }

/** Another workspace's Pipe is as absent as one that never was. */
export async function findPipe(db: Db, actor: Actor, id: string, lock?: 'update'): Promise<Found> {
  const query = db
    .select({ pipe: pipes, dataStoreId: pipeDestinations.dataStoreId })
    .from(pipes)
    .innerJoin(pipeDestinations, eq(pipeDestinations.pipeId, pipes.id))
    .where(and(eq(pipes.id, id), eq(pipes.workspaceId, actor.workspaceId), isNull(pipes.deletedAt)))
  const [found] = isPipeId(id) ? await (lock ? query.for(lock, { of: pipes }) : query) : []
  if (!found) throw new SluiceError('pipe_not_found', 'There is no such Pipe.')
  return found
}
