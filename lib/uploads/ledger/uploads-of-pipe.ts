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

/** It looks from Pipe to Pipe, and not through all uploads under way. */
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
