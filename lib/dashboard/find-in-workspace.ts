import { and, desc, eq, ilike, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { dataStores, deliveries, files, pipes, senders, uploadLinks } from '#drizzle/schema/index.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { isUuid } from '../platform/kernel/ids.ts'
import type { Runtime } from '../platform/runtime.ts'
import { listed } from './files/file-query.ts'

export type SearchHit = {
  kind: 'pipe' | 'file' | 'batch' | 'subject' | 'delivery' | 'link' | 'sender' | 'dataStore'
  title: string
  hint: string
  href: string
}

const PER_KIND = 5
/** Files are searched by id among all files, and by name among this many of the newest. */
const NEWEST_FILES = 2000

/** Finds items that match the text in the search box. Without text, returns the newest items. */
export async function findInWorkspace(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
  query: string,
): Promise<SearchHit[]> {
  const text = query
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .trim()
    .slice(0, 200)
  const sought = { db, workspaceId, text, like: `%${text.replace(/[\\%_]/g, '\\$&')}%` }
  const found: SearchHit[] = []
  for (const find of [
    findPipes,
    findFiles,
    findBatches,
    findSubjects,
    findDeliveries,
    findLinks,
    findSenders,
    findDataStores,
  ])
    found.push(...(await find(sought)))
  return found
}

type Sought = { db: Db; workspaceId: string; text: string; like: string }

const named = ({ text, like }: Sought, name: AnyPgColumn, id: AnyPgColumn): SQL | undefined =>
  text ? or(ilike(name, like), ilike(sql`${id}::text`, like)) : undefined

async function findPipes(sought: Sought): Promise<SearchHit[]> {
  const { id, name, workspaceId, deletedAt } = pipes
  const found = await sought.db
    .select({ id, title: name, hint: id })
    .from(pipes)
    .where(and(eq(workspaceId, sought.workspaceId), isNull(deletedAt), named(sought, name, id)))
    .limit(PER_KIND)
  return found.map((one) => ({ ...one, kind: 'pipe', href: `/dashboard/pipes/${one.id}` }))
}

async function findFiles({ db, workspaceId, text, like }: Sought): Promise<SearchHit[]> {
  const columns = { id: files.id, title: files.filename, hint: files.status }
  const mine = db.select(columns).from(files)
  const newest = mine
    .where(and(eq(files.workspaceId, workspaceId), listed))
    .orderBy(desc(files.id))
    .limit(NEWEST_FILES)
    .as('newest')
  const found = isUuid(text)
    ? await db
        .select(columns)
        .from(files)
        .where(and(eq(files.workspaceId, workspaceId), eq(files.id, text), listed))
    : await db
        .select()
        .from(newest)
        .where(text ? ilike(newest.title, like) : undefined)
        .orderBy(desc(newest.id))
        .limit(PER_KIND)
  return found.map(({ id, ...one }) => ({ ...one, kind: 'file', href: `/dashboard/files/${id}` }))
}

/** The batches of the newest files, or a batch by its id. */
async function findBatches({ db, workspaceId, text, like }: Sought): Promise<SearchHit[]> {
  if (!text) return []
  const found = await rows<{ id: string; name: string }>(
    db,
    isUuid(text)
      ? sql`select id, name from batches where id = ${text}::uuid and workspace_id = ${workspaceId}::uuid`
      : sql`select b.id, b.name from batches b where b.name ilike ${like} and b.id in (
          select batch_id from files where workspace_id = ${workspaceId}::uuid and ${listed}
          order by id desc limit ${NEWEST_FILES}
        ) order by b.created_at desc limit ${PER_KIND}`,
  )
  return found.map(({ id, name }) => ({
    kind: 'batch',
    title: name,
    hint: '',
    href: `/dashboard/files?batchId=${id}`,
  }))
}

/** Whom the newest files belong to. */
async function findSubjects({ db, workspaceId, text, like }: Sought): Promise<SearchHit[]> {
  if (!text) return []
  const found = await rows<{ subject: string }>(
    db,
    sql`select distinct subject from (select subject from files where workspace_id = ${workspaceId}::uuid and ${listed}
      order by id desc limit ${NEWEST_FILES}) newest where subject ilike ${like} order by subject limit ${PER_KIND}`,
  )
  return found.map(({ subject }) => ({
    kind: 'subject',
    title: subject,
    hint: '',
    href: `/dashboard/files?search=${encodeURIComponent(subject)}`,
  }))
}

/** Finds deliveries by their event's id or by their own id. */
async function findDeliveries({ db, workspaceId, text }: Sought): Promise<SearchHit[]> {
  if (!isUuid(text)) return []
  const byId = or(eq(deliveries.id, text), eq(deliveries.eventId, text))
  const found = await db
    .select({ id: deliveries.id, url: deliveries.url, hint: deliveries.state })
    .from(deliveries)
    .where(and(eq(deliveries.workspaceId, workspaceId), byId))
    .limit(PER_KIND)
  return found.map(({ id, url, hint }) => {
    const title = `Webhook to ${new URL(url).host}`
    return { kind: 'delivery', title, hint, href: `/dashboard/webhooks?delivery=${id}` }
  })
}

async function findLinks(sought: Sought): Promise<SearchHit[]> {
  const { id, pipeId, title, workspaceId, deletedAt } = uploadLinks
  const found = await sought.db
    .select({ id, pipeId, title })
    .from(uploadLinks)
    .where(and(eq(workspaceId, sought.workspaceId), isNull(deletedAt), named(sought, title, id)))
    .orderBy(desc(id))
    .limit(PER_KIND)
  return found.map((one) => ({
    kind: 'link',
    title: one.title,
    hint: '',
    href: `/dashboard/pipes/${one.pipeId}/links`,
  }))
}

/** A link's own Sender is found as the link. */
const isOfNoLink = sql`not exists (select from upload_links l where l.sender_id = ${senders.id})`

async function findSenders(sought: Sought): Promise<SearchHit[]> {
  const { id, name, workspaceId, tokenLast4 } = senders
  const found = await sought.db
    .select({ id, title: name, last4: tokenLast4 })
    .from(senders)
    .where(and(eq(workspaceId, sought.workspaceId), isOfNoLink, named(sought, name, id)))
    .orderBy(desc(id))
    .limit(PER_KIND)
  return found.map((one) => ({
    kind: 'sender',
    title: one.title,
    hint: `…${one.last4}`,
    href: `/dashboard/senders/${one.id}`,
  }))
}

async function findDataStores(sought: Sought): Promise<SearchHit[]> {
  const { id, name, bucket, workspaceId, deletedAt } = dataStores
  const found = await sought.db
    .select({ id, title: name, hint: bucket })
    .from(dataStores)
    .where(and(eq(workspaceId, sought.workspaceId), isNull(deletedAt), named(sought, name, id)))
    .limit(PER_KIND)
  return found.map((one) => ({ ...one, kind: 'dataStore', href: `/dashboard/data-stores/${one.id}` }))
}
