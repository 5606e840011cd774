import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { pipeDestinations, pipes } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isPipeId } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../data-stores/sealed-data-store.ts'
import { type Pipe, toPipe } from './pipe.ts'

type PipeWithPlace = { pipe: typeof pipes.$inferSelect; dataStoreId: string }

/** Another workspace's Pipe is as absent as one that never was. */
export async function findPipe(db: Db, actor: Actor, id: string, lock?: 'update'): Promise<PipeWithPlace> {
  const query = db
    .select({ pipe: pipes, dataStoreId: pipeDestinations.dataStoreId })
    .from(pipes)
    .innerJoin(pipeDestinations, eq(pipeDestinations.pipeId, pipes.id))
    .where(and(eq(pipes.id, id), eq(pipes.workspaceId, actor.workspaceId), isNull(pipes.deletedAt)))
  const [found] = isPipeId(id) ? await (lock ? query.for(lock, { of: pipes }) : query) : []
  if (!found) throw new SluiceError('pipe_not_found', 'There is no such Pipe.')
  return found
}

export async function showPipe(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
  id: string,
): Promise<Pipe> {
  const { pipe, dataStoreId } = await findPipe(db, actor, id)
  return toPipe(pipe, dataStoreId, config)
}

/** A Pipe's id is random, so the list goes by time and then by id. */
const isKey = (key: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z pipe_[a-z2-7]{20}$/.test(key)

export async function listPipes(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Pipe>> {
  const before = readCursor(cursor, isKey)?.split(' ')
  const rows = await db
    .select({ pipe: pipes, dataStoreId: pipeDestinations.dataStoreId })
    .from(pipes)
    .innerJoin(pipeDestinations, eq(pipeDestinations.pipeId, pipes.id))
    .where(
      and(
        eq(pipes.workspaceId, actor.workspaceId),
        isNull(pipes.deletedAt),
        before
          ? sql`(${pipes.createdAt}, ${pipes.id}) < (${before[0]}::timestamptz, ${before[1]}::text)`
          : undefined,
      ),
    )
    .orderBy(desc(pipes.createdAt), desc(pipes.id))
    .limit(limit + 1)
  return toPage(
    rows,
    limit,
    ({ pipe, dataStoreId }) => toPipe(pipe, dataStoreId, config),
    ({ pipe }) => `${pipe.createdAt.toISOString()} ${pipe.id}`,
  )
}

/** What anybody may learn of a Pipe without a token, and its bucket to learn it from. */
export type PublicPipe = {
  allowedOrigins: string[]
  maxFileBytes: number | null
  uploadExpirySeconds: number
  dataStore: SealedDataStore
}

export async function findPublicPipe(db: Db, pipeId: string): Promise<PublicPipe | undefined> {
  const [pipe] = await rows<PublicPipe>(
    db,
    sql`select p.allowed_origins as "allowedOrigins", p.max_file_bytes as "maxFileBytes",
        p.upload_expiry_seconds as "uploadExpirySeconds",
        ${sealedDataStoreColumn()} as "dataStore"
      from pipes p join pipe_destinations pd on pd.pipe_id = p.id join data_stores ds on ds.id = pd.data_store_id
      where p.id = ${pipeId} and p.deleted_at is null`,
  )
  return pipe
}
