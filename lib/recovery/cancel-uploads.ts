import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import { dataStores, fileDestinations, files, pipes } from '#drizzle/schema/index.ts'
import type { Db } from '../platform/db/database.ts'
import { type EndingRuntime, endingContext, endUpload } from '../uploads/endings/end-upload.ts'

const AT_ONCE = 100
const PIPE_DELETED = 'The Pipe was deleted.'

/** Cancels some of the uploads whose Pipe was deleted. Runs as a sweep, for uploads that a crash left behind. */
export async function cancelUploadsOfDeletedPipes(runtime: EndingRuntime): Promise<number> {
  return cancelAll(runtime, await uploadsOfDeletedPipes(runtime.db, AT_ONCE), PIPE_DELETED)
}

/**
 * Cancels some of the uploads to Data Stores that were turned off. They do not continue even if the Data Store is
 * switched on again, because their bytes are from whoever used the account before its owner recovered it. Uploads whose
 * bytes have all arrived are not canceled, and still become objects.
 */
export async function cancelUploadsToTurnedOffDataStores(runtime: EndingRuntime): Promise<number> {
  const due = await uploadsToTurnedOffDataStores(runtime.db, AT_ONCE)
  return cancelAll(runtime, due, 'The Data Store was turned off.')
}

/** Cancels all uploads of a Pipe that is being deleted, on its own or together with its account. */
export function cancelUploadsOfPipe(runtime: EndingRuntime): (pipeId: string) => Promise<number> {
  return async (pipeId) => {
    let canceled = 0
    for (;;) {
      const due = await uploadsOfPipe(runtime.db, pipeId, AT_ONCE)
      if (due.length === 0) return canceled
      canceled += await cancelAll(runtime, due, PIPE_DELETED)
    }
  }
}

async function cancelAll(runtime: EndingRuntime, due: readonly string[], reason: string): Promise<number> {
  const end = { status: 'canceled', reason, from: ['uploading'] } as const
  let canceled = 0
  for (const fileId of due) if (await endUpload(endingContext(runtime), fileId, end)) canceled++
  return canceled
}

const isUnderWay = and(eq(files.status, 'uploading'), isNull(files.laneOf))

/** The ids of a Pipe's unfinished uploads, up to the limit. */
async function uploadsOfPipe(db: Db, pipeId: string, limit: number): Promise<string[]> {
  const found = await db
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.pipeId, pipeId), isUnderWay))
    .limit(limit)
  return found.map(({ id }) => id)
}

/** The query goes from Pipe to Pipe, instead of through all unfinished uploads. */
async function uploadsOfDeletedPipes(db: Db, limit: number): Promise<string[]> {
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

/** The query goes from Data Store to Data Store, because few are turned off. */
async function uploadsToTurnedOffDataStores(db: Db, limit: number): Promise<string[]> {
  const left = db
    .select({ id: files.id })
    .from(files)
    .innerJoin(fileDestinations, eq(fileDestinations.fileId, files.id))
    .where(
      and(
        eq(files.workspaceId, dataStores.workspaceId),
        eq(fileDestinations.dataStoreId, dataStores.id),
        fileDestinations.required,
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
