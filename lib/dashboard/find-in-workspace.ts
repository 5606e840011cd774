import { and, desc, eq, ilike, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { dataStores, deliveries, files, pipes, senders } from '#drizzle/schema/index.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { isUuid } from '../platform/kernel/ids.ts'
import type { Runtime } from '../platform/runtime.ts'
import { listed } from './files/file-query.ts'

export type Found = {
  kind: 'pipe' | 'file' | 'delivery' | 'sender' | 'dataStore'
  title: string
  hint: string
  href: string
}

const PER_KIND = 5
/** A file is looked for by its id among all, by its name among this many of the newest. */
const NEWEST_FILES = 2000

/** What the words of a search box point to. Nothing typed: what is newest. */
export async function findInWorkspace(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  query: string,
): Promise<Found[]> {
  const text = query
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed()
    .trim()
    .slice(0, 200)
  const like = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  const named = (name: AnyPgColumn, id: AnyPgColumn): SQL | undefined =>
    text ? or(ilike(name, like), ilike(sql`${id}::text`, like)) : undefined
  const newest = db
    .select({ id: files.id, filename: files.filename, status: files.status })
    .from(files)
    .where(and(eq(files.workspaceId, actor.workspaceId), listed))
    .orderBy(desc(files.id))
    .limit(NEWEST_FILES)
    .as('newest')

  const foundPipes = await db
    .select({ id: pipes.id, name: pipes.name })
    .from(pipes)
    .where(
      and(eq(pipes.workspaceId, actor.workspaceId), isNull(pipes.deletedAt), named(pipes.name, pipes.id)),
    )
    .limit(PER_KIND)
  const foundSenders = await db
    .select({ id: senders.id, name: senders.name, last4: senders.tokenLast4 })
    .from(senders)
    .where(and(eq(senders.workspaceId, actor.workspaceId), named(senders.name, senders.id)))
    .orderBy(desc(senders.id))
    .limit(PER_KIND)
  const foundStores = await db
    .select({ id: dataStores.id, name: dataStores.name, bucket: dataStores.bucket })
    .from(dataStores)
    .where(
      and(
        eq(dataStores.workspaceId, actor.workspaceId),
        isNull(dataStores.deletedAt),
        named(dataStores.name, dataStores.id),
      ),
    )
    .limit(PER_KIND)
  const foundFiles = isUuid(text)
    ? await db
        .select({ id: files.id, filename: files.filename, status: files.status })
        .from(files)
        .where(and(eq(files.workspaceId, actor.workspaceId), eq(files.id, text), listed))
    : await db
        .select()
        .from(newest)
        .where(text ? ilike(newest.filename, like) : undefined)
        .orderBy(desc(newest.id))
        .limit(PER_KIND)
  // By the id of the event that it tells, or by its own.
  const foundDeliveries = isUuid(text)
    ? await db
        .select({ id: deliveries.id, url: deliveries.url, state: deliveries.state })
        .from(deliveries)
        .where(
          and(
            eq(deliveries.workspaceId, actor.workspaceId),
            or(eq(deliveries.id, text), eq(deliveries.eventId, text)),
          ),
        )
        .limit(PER_KIND)
    : []
  return [
    ...foundPipes.map(({ id, name }) => found('pipe', name, id, `/dashboard/pipes/${id}`)),
    ...foundFiles.map(({ id, filename, status }) =>
      found('file', filename, status, `/dashboard/files/${id}`),
    ),
    ...foundDeliveries.map(({ id, url, state }) =>
      found('delivery', `Webhook to ${new URL(url).host}`, state, `/dashboard/webhooks?delivery=${id}`),
    ),
    ...foundSenders.map(({ id, name, last4 }) =>
      found('sender', name, `…${last4}`, `/dashboard/senders/${id}`),
    ),
    ...foundStores.map(({ id, name, bucket }) =>
      found('dataStore', name, bucket, `/dashboard/data-stores/${id}`),
    ),
  ]
}

function found(kind: Found['kind'], title: string, hint: string, href: string): Found {
  return { kind, title, hint, href }
}
