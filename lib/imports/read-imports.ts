import { and, eq, gt, inArray, isNotNull, isNull, lt, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { files, imports } from '#drizzle/schema/index.ts'
import type { Db } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { isUuid } from '../platform/kernel/ids.ts'
import type { Runtime } from '../platform/runtime.ts'
import { cancelUpload, endingContext } from '../uploads/endings/end-upload.ts'
import type { KnownSender } from '../workspace/senders/read-senders.ts'

export const importAnswer = z.strictObject({
  /** The URL without its query, which is often secret. */
  url: z.string(),
  /** When the next attempt to fetch the file is due; null once nothing more is needed from its source. */
  nextAttemptAt: z.iso.datetime().nullable(),
  /** True if a worker is fetching the file now. */
  fetching: z.boolean(),
  /** Consecutive attempts without new bytes. */
  failures: z.int(),
  lastError: z.string().nullable(),
})
export type Import = z.output<typeof importAnswer>

/** The source of a file; null if the file is not an import. */
export async function readImport(
  { db, clock }: Pick<Runtime, 'db' | 'clock'>,
  fileId: string,
): Promise<Import | null> {
  const [row] = await db.select().from(imports).where(eq(imports.fileId, fileId))
  if (!row) return null
  return {
    url: row.shownUrl,
    nextAttemptAt: row.dueAt?.toISOString() ?? null,
    fetching: row.claimedUntil !== null && row.claimedUntil.getTime() > clock.now(),
    failures: row.failures,
    lastError: row.lastError,
  }
}

/**
 * The last errors of the imports among these files that are retried: until bytes arrive again, because an attempt may
 * wait for a source that does not respond.
 */
export async function readFailingImports(
  { db }: Pick<Runtime, 'db'>,
  among: readonly { id: string; protocol: string; status: string }[],
): Promise<ReadonlyMap<string, string>> {
  const ids = among.filter(({ protocol, status }) => protocol === 'url' && status === 'uploading')
  if (ids.length === 0) return new Map()
  const { fileId, lastError, failures, failingSince, dueAt, claimedUntil } = imports
  const found = await db
    .select({ fileId, lastError })
    .from(imports)
    .innerJoin(files, eq(files.id, fileId))
    .where(
      and(
        inArray(
          fileId,
          ids.map(({ id }) => id),
        ),
        gt(failures, 0),
        isNotNull(dueAt),
        or(
          isNull(claimedUntil),
          lt(claimedUntil, sql`now()`),
          isNull(files.lastByteAt),
          lt(files.lastByteAt, failingSince),
        ),
      ),
    )
  return new Map(found.map((one) => [one.fileId, one.lastError ?? '']))
}

/** The file of one of this Sender's imports. Another Sender's import is reported as missing. */
export async function findImported(
  db: Db,
  sender: KnownSender,
  fileId: string,
): Promise<{ id: string; workspaceId: string }> {
  const mine = and(eq(files.id, fileId), eq(files.senderId, sender.id), eq(files.protocol, 'url'))
  const [file] = isUuid(fileId)
    ? await db.select({ id: files.id, workspaceId: files.workspaceId }).from(files).where(mine)
    : []
  if (!file) throw new SluiceError('not_found', 'This Sender has no such import.')
  return file
}

export async function cancelImport(
  runtime: Pick<Runtime, 'db' | 'clock' | 'queue' | 'metrics'>,
  sender: KnownSender,
  fileId: string,
): Promise<void> {
  const { id, workspaceId } = await findImported(runtime.db, sender, fileId)
  await cancelUpload(endingContext(runtime), { fileId: id, workspaceId })
}
