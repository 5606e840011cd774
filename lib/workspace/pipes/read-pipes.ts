import { and, desc, eq, isNull, sql } from 'drizzle-orm'
import { pipes } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Page, type PageQuery, readCursor, toPage } from '../../platform/db/page.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isPipeId } from '../../platform/kernel/ids.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../data-stores/sealed-data-store.ts'
import { PIPE_DESTINATIONS, type PipeDestination, readDestinations } from './destinations.ts'
import { type Pipe, toPipe } from './pipe.ts'

type PipeWithDestinations = { pipe: typeof pipes.$inferSelect; destinations: PipeDestination[] }

/** A Pipe in another workspace is reported as missing. */
export async function findPipe(
  db: Db,
  actor: Actor,
  id: string,
  lock?: 'update',
): Promise<PipeWithDestinations> {
  const query = db
    .select()
    .from(pipes)
    .where(and(eq(pipes.id, id), eq(pipes.workspaceId, actor.workspaceId), isNull(pipes.deletedAt)))
  const [pipe] = isPipeId(id) ? await (lock ? query.for(lock) : query) : []
  if (!pipe) throw noPipe()
  return { pipe, destinations: (await readDestinations(db, [id])).get(id)! }
}

export async function showPipe(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
  id: string,
): Promise<Pipe> {
  const { pipe, destinations } = await findPipe(db, actor, id)
  return toPipe(pipe, destinations, config)
}

/** A Pipe's id is random, so the list is sorted by time and then by id. */
const isKey = (key: string) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z pipe_[a-z2-7]{20}$/.test(key)

export async function listPipes(
  { db, config }: Pick<Runtime, 'db' | 'config'>,
  actor: Actor,
  { limit, cursor }: PageQuery,
): Promise<Page<Pipe>> {
  const before = readCursor(cursor, isKey)?.split(' ')
  const found = await db
    .select()
    .from(pipes)
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
  const destinations = await readDestinations(
    db,
    found.map(({ id }) => id),
  )
  return toPage(
    found,
    limit,
    (pipe) => toPipe(pipe, destinations.get(pipe.id)!, config),
    (pipe) => `${pipe.createdAt.toISOString()} ${pipe.id}`,
  )
}

/** On a workspace's own host, there are no Pipes of other workspaces. */
export async function assertServedHere(db: Db, id: string): Promise<void> {
  const linkHost = currentRequest()?.linkHost
  if (!linkHost) return
  const ofWorkspace = and(eq(pipes.id, id), eq(pipes.workspaceId, linkHost.workspaceId))
  const found = await db.select({ id: pipes.id }).from(pipes).where(ofWorkspace)
  if (found.length === 0) throw noPipe()
}

const noPipe = () => new SluiceError('pipe_not_found', 'There is no such Pipe.')

/** What anyone can read about a Pipe without a token, and the Data Stores from which some of it is derived. */
export type PublicPipe = {
  allowedOrigins: string[]
  maxFileBytes: number | null
  uploadExpirySeconds: number
  verifyContent: boolean
  computeSha256: boolean
  destinations: { dataStore: SealedDataStore; required: boolean }[]
}

export async function findPublicPipe(db: Db, pipeId: string): Promise<PublicPipe | undefined> {
  const [pipe] = await rows<PublicPipe>(
    db,
    sql`select p.allowed_origins as "allowedOrigins", p.max_file_bytes as "maxFileBytes",
        p.upload_expiry_seconds as "uploadExpirySeconds", p.verify_content as "verifyContent", p.compute_sha256 as "computeSha256",
        (select json_agg(json_build_object('required', pd.required, 'dataStore', ${sealedDataStoreColumn()}) order by pd.position)
          from ${PIPE_DESTINATIONS} pd join data_stores ds on ds.id = pd.data_store_id where pd.pipe_id = p.id) as destinations
      from pipes p where p.id = ${pipeId} and p.deleted_at is null`,
  )
  return pipe
}
