import { and, count, eq, isNotNull } from 'drizzle-orm'
import { files, pipes } from '#drizzle/schema/index.ts'
import type { Db } from '../db/database.ts'
import { endingContext } from '../files/cancel-file.ts'
import type { Runtime } from '../runtime.ts'
import { endUpload } from '../uploads/end-upload.ts'

const BATCH = 100

const underWay = (pipeId: string) => and(eq(files.pipeId, pipeId), eq(files.status, 'uploading'))

/** What deleting the Pipe would cancel. */
export async function countUploadsUnderWay(db: Db, pipeId: string): Promise<number> {
  const [row] = await db.select({ n: count() }).from(files).where(underWay(pipeId))
  return row!.n
}

type Needs = Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>

/** A batch of the uploads whose Pipe is gone: also a sweep, for what a crash left. */
export async function cancelUploadsOfDeletedPipes(runtime: Needs): Promise<number> {
  const due = await runtime.db
    .select({ id: files.id })
    .from(files)
    .innerJoin(pipes, eq(pipes.id, files.pipeId))
    .where(and(eq(files.status, 'uploading'), isNotNull(pipes.deletedAt)))
    .limit(BATCH)
  return cancelAll(runtime, due)
}

export async function cancelUploadsOf(runtime: Needs, pipeId: string): Promise<number> {
  let canceled = 0
  for (;;) {
    const due = await runtime.db.select({ id: files.id }).from(files).where(underWay(pipeId)).limit(BATCH)
    if (due.length === 0) return canceled
    canceled += await cancelAll(runtime, due)
  }
}

async function cancelAll(runtime: Needs, due: { id: string }[]): Promise<number> {
  const end = { status: 'canceled', reason: 'Its Pipe was deleted.', from: ['uploading'] } as const
  let canceled = 0
  for (const { id } of due) if (await endUpload(endingContext(runtime), id, end)) canceled++
  return canceled
}
