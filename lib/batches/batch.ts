import { type SQL, sql } from 'drizzle-orm'
import { z } from 'zod'
import type { FileStatus } from '#drizzle/schema/files.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { isUuid } from '../platform/kernel/ids.ts'

const instant = z.iso.datetime()

export const batchAnswer = z.strictObject({
  id: z.uuid(),
  pipeId: z.string(),
  name: z.string(),
  /** Who named the batch: the backend in a token, or the uploader. */
  namedBy: z.enum(['token', 'uploader']),
  subject: z.string().nullable(),
  /** How many files the batch has, and how many of them are open. */
  files: z.int(),
  open: z.int(),
  createdAt: instant,
  /** When the batch stopped accepting files. */
  sealedAt: instant.nullable(),
  /** When the batch became complete: sealed, and all of its files had ended. */
  completedAt: instant.nullable(),
})
export type Batch = z.output<typeof batchAnswer>

/**
 * A condition for files `f` in a batch. Files whose record was erased do not count, for example because the client
 * repeated a creation whose response was lost.
 */
export const isInBatch = (id: SQL) => sql`f.batch_id = ${id} and f.erased_at is null`
export const IS_OPEN = sql`f.status in ('uploading', 'transferring')`

type Row = Omit<Batch, 'namedBy' | 'createdAt' | 'sealedAt' | 'completedAt'> & { byToken: boolean } & Record<
    'createdAt' | 'sealedAt' | 'completedAt',
    string | null
  >

export async function readBatch(db: Db, id: string): Promise<Batch | undefined> {
  const [row] = await rows<Row>(
    db,
    sql`select b.id, b.pipe_id as "pipeId", b.name, b.by_token as "byToken", b.subject,
      (select count(*)::int from files f where ${isInBatch(sql`b.id`)}) as files,
      (select count(*)::int from files f where ${isInBatch(sql`b.id`)} and ${IS_OPEN}) as open,
      b.created_at as "createdAt", b.sealed_at as "sealedAt", b.completed_at as "completedAt"
    from batches b where b.id = ${id}::uuid`,
  )
  if (!row) return undefined
  const { byToken, createdAt, sealedAt, completedAt, ...batch } = row
  const time = (at: string | null) => (at === null ? null : new Date(at).toISOString())
  return {
    ...batch,
    namedBy: byToken ? 'token' : 'uploader',
    createdAt: time(createdAt)!,
    sealedAt: time(sealedAt),
    completedAt: time(completedAt),
  }
}

export async function showBatch(
  { db }: { db: Db },
  { workspaceId }: Pick<Actor, 'workspaceId'>,
  id: string,
): Promise<Batch> {
  const [mine] = isUuid(id)
    ? await rows(
        db,
        sql`select 1 from batches where id = ${id}::uuid and workspace_id = ${workspaceId}::uuid`,
      )
    : []
  const batch = mine && (await readBatch(db, id))
  if (!batch) throw noBatch()
  return batch
}

/** How many of a batch's files have each status. */
export function countOutcomes(
  { db }: { db: Db },
  id: string,
): Promise<{ status: FileStatus; count: number }[]> {
  const inBatch = isInBatch(sql`${id}::uuid`)
  return rows(
    db,
    sql`select f.status, count(*)::int as count from files f where ${inBatch} group by 1 order by 2 desc`,
  )
}

export const noBatch = () =>
  new SluiceError('not_found', 'There is no such batch. A batch exists once its first file has been created.')
