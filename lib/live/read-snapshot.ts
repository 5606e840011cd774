import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import { attempts, deliveries, files, fileTimeline, inboxMessages } from '#drizzle/schema/index.ts'
import type { Db } from '../db/database.ts'
import { isUuid } from '../kernel/ids.ts'

/** What a page can follow. Each is read by an index, so that a look costs the same at any size. */
export const TOPICS = ['uploads', 'files', 'deliveries', 'inbox'] as const
export type Topic = (typeof TOPICS)[number] | `file:${string}`

export type LiveUpload = {
  id: string
  filename: string
  offsetBytes: number
  lengthBytes: number | null
  status: string
}

/** Two snapshots are equal exactly when the page need not change. */
export type Snapshot = { uploads?: LiveUpload[]; mark: string }

const LOOKED_AT = 50

export function isTopic(text: string): text is Topic {
  return (TOPICS as readonly string[]).includes(text) || (text.startsWith('file:') && isUuid(text.slice(5)))
}

export async function readSnapshot(db: Db, workspaceId: string, topic: Topic): Promise<Snapshot> {
  switch (topic) {
    case 'uploads':
      return uploadsUnderWay(db, workspaceId)
    case 'files':
      return {
        mark: JSON.stringify([await newestFile(db, workspaceId), await uploadsUnderWay(db, workspaceId)]),
      }
    case 'deliveries':
      return newestDeliveries(db, eq(deliveries.workspaceId, workspaceId))
    case 'inbox':
      return newestMessage(db, workspaceId)
    default:
      return oneFile(db, workspaceId, topic.slice(5))
  }
}

async function uploadsUnderWay(db: Db, workspaceId: string): Promise<Snapshot> {
  const uploads = await db
    .select({
      id: files.id,
      filename: files.filename,
      offsetBytes: files.offsetBytes,
      lengthBytes: files.lengthBytes,
      status: files.status,
    })
    .from(files)
    .where(and(eq(files.workspaceId, workspaceId), inArray(files.status, ['uploading', 'transferring'])))
    .orderBy(desc(files.id))
    .limit(LOOKED_AT)
  return { uploads, mark: JSON.stringify(uploads) }
}

async function newestFile(db: Db, workspaceId: string): Promise<string | undefined> {
  const [newest] = await db
    .select({ id: files.id })
    .from(files)
    .where(eq(files.workspaceId, workspaceId))
    .orderBy(desc(files.id))
    .limit(1)
  return newest?.id
}

async function newestDeliveries(db: Db, where: ReturnType<typeof and>): Promise<Snapshot> {
  const newest = await db
    .select({
      id: deliveries.id,
      state: deliveries.state,
      attemptCount: deliveries.attemptCount,
      nextAttemptAt: deliveries.nextAttemptAt,
      // A resent one can look as it did before.
      lastAttempt: sql<string | null>`(select a.id from ${attempts} a where a.delivery_id = ${deliveries.id}
        order by a.id desc limit 1)`,
    })
    .from(deliveries)
    .where(where)
    .orderBy(desc(deliveries.id))
    .limit(LOOKED_AT)
  return { mark: JSON.stringify(newest) }
}

async function newestMessage(db: Db, workspaceId: string): Promise<Snapshot> {
  const [newest] = await db
    .select({ id: inboxMessages.id })
    .from(inboxMessages)
    .where(eq(inboxMessages.workspaceId, workspaceId))
    .orderBy(desc(inboxMessages.id))
    .limit(1)
  return { mark: newest?.id ?? '' }
}

async function oneFile(db: Db, workspaceId: string, fileId: string): Promise<Snapshot> {
  const [file] = await db
    .select({ status: files.status, offsetBytes: files.offsetBytes, resumeCount: files.resumeCount })
    .from(files)
    .where(and(eq(files.workspaceId, workspaceId), eq(files.id, fileId)))
  if (!file) return { mark: '' }
  const [last] = await db
    .select({ id: fileTimeline.id })
    .from(fileTimeline)
    .where(eq(fileTimeline.fileId, fileId))
    .orderBy(desc(fileTimeline.id))
    .limit(1)
  const sent = await newestDeliveries(db, eq(deliveries.fileId, fileId))
  return { mark: JSON.stringify([file, last, sent.mark]) }
}
