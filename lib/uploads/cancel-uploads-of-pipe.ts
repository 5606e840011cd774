import { and, eq, isNotNull } from 'drizzle-orm'
import { files, pipes } from '#drizzle/schema/index.ts'
import type { Runtime } from '../platform/runtime.ts'
import { endUpload } from './end-upload.ts'
import { endingContext } from './ending-context.ts'

const BATCH = 100

const underWay = (pipeId: string) => and(eq(files.pipeId, pipeId), eq(files.status, 'uploading'))

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

/** For what deletes a Pipe, or an account with its Pipes. */
export function cancelUploadsOfPipe(runtime: Needs): (pipeId: string) => Promise<number> {
  return async (pipeId) => {
    let canceled = 0
    for (;;) {
      const due = await runtime.db.select({ id: files.id }).from(files).where(underWay(pipeId)).limit(BATCH)
      if (due.length === 0) return canceled
      canceled += await cancelAll(runtime, due)
    }
  }
}

async function cancelAll(runtime: Needs, due: { id: string }[]): Promise<number> {
  const end = { status: 'canceled', reason: 'Its Pipe was deleted.', from: ['uploading'] } as const
  let canceled = 0
  for (const { id } of due) if (await endUpload(endingContext(runtime), id, end)) canceled++
  return canceled
}
