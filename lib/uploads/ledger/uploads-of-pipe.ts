import { and, eq, isNotNull } from 'drizzle-orm'
import { dataStores, fileDestinations, files, pipes } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

const isUnderWay = eq(files.status, 'uploading')

/** The ids of a Pipe's unfinished uploads, up to the limit. */
export async function uploadsOfPipe(db: Db, pipeId: string, limit: number): Promise<string[]> {
  const found = await db
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.pipeId, pipeId), isUnderWay))
    .limit(limit)
  return found.map(({ id }) => id)
}

/** The query goes from Pipe to Pipe, rather than through all unfinished uploads. */
export async function uploadsOfDeletedPipes(db: Db, limit: number): Promise<string[]> {
  const left = db
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.pipeId, pipes.id), isUnderWay))
    .limit(limit)
    .as('left_behind')
  const found = await db
    .select({ id: left.id })
    .from(pipes)
    .crossJoinLateral(left)
    .where(isNotNull(pipes.deletedAt))
    .limit(limit)
  return found.map(({ id }) => id)
}

/** From Data Store to Data Store, as few are ever turned off. */
export async function uploadsToTurnedOffDataStores(db: Db, limit: number): Promise<string[]> {
  const left = db
    .select({ id: files.id })
    .from(files)
    .innerJoin(fileDestinations, eq(fileDestinations.fileId, files.id))
    .where(
      and(
        eq(files.workspaceId, dataStores.workspaceId),
        eq(fileDestinations.dataStoreId, dataStores.id),
        isUnderWay,
      ),
    )
    .limit(limit)
    .as('left_behind')
  const found = await db
    .select({ id: left.id })
    .from(dataStores)
    .crossJoinLateral(left)
    .where(isNotNull(dataStores.turnedOffAt))
    .limit(limit)
  return found.map(({ id }) => id)
}
