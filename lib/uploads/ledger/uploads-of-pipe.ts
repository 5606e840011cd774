import { and, eq, isNotNull } from 'drizzle-orm'
import { files, pipes } from '#drizzle/schema/index.ts'
import type { Db } from '../../platform/db/database.ts'

const isUnderWay = eq(files.status, 'uploading')

/** The ids of uploads under way of one Pipe, as many as the limit says. */
export async function uploadsOfPipe(db: Db, pipeId: string, limit: number): Promise<string[]> {
  const found = await db
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.pipeId, pipeId), isUnderWay))
    .limit(limit)
  return found.map(({ id }) => id)
}

export async function uploadsOfDeletedPipes(db: Db, limit: number): Promise<string[]> {
  const found = await db
    .select({ id: files.id })
    .from(files)
    .innerJoin(pipes, eq(pipes.id, files.pipeId))
    .where(and(isUnderWay, isNotNull(pipes.deletedAt)))
    .limit(limit)
  return found.map(({ id }) => id)
}
