import { createHash } from 'node:crypto'
import { and, desc, eq, gte, inArray, sql } from 'drizzle-orm'
import {
  attempts,
  deliveries,
  fileDestinations,
  files,
  fileTimeline,
  IS_FILE,
  imports,
  inboxMessages,
  repairedParts,
} from '#drizzle/schema/index.ts'
import { may } from '../identity/rights.ts'
import { readSession } from '../identity/sessions/read-session.ts'
import { type Db, LIVE_CHANNEL } from '../platform/db/database.ts'
import { minutes, seconds } from '../platform/kernel/clock.ts'
import { firstUuidAfter, isUuid } from '../platform/kernel/ids.ts'
import { createBell } from '../platform/kernel/waits.ts'
import type { Runtime } from '../platform/runtime.ts'
import { offsetOf } from '../uploads/ledger/lanes.ts'

/**
 * Topics that a page can follow. Each is read through an index, so that a query costs the same for any number of rows.
 */
const TOPICS = ['uploads', 'files', 'deliveries', 'overview', 'inbox'] as const
export type Topic = (typeof TOPICS)[number] | `file:${string}` | `delivery:${string}`

export type LiveUpload = {
  id: string
  pipeId: string
  filename: string
  offsetBytes: number
  lengthBytes: number | null
  status: string
  /** Whether no bytes have arrived for five minutes. */
  waiting: boolean
  /** Whether it is complete except for a decision. */
  awaiting: boolean
  /** Whether it is an import whose source has failed, and will be requested again. */
  retrying: boolean
}

/** If two snapshots have the same mark, the page does not need to change. */
type Snapshot = { uploads?: LiveUpload[]; mark: string }

const LOOKED_AT = 50
const isWaiting = sql<boolean>`${files.status} = 'uploading'
  and coalesce(${files.lastByteAt}, ${files.createdAt}) < now() - interval '5 minutes'`
/** Kept short, because marks are included in pages. */
const MARK_LENGTH = 16

export function isTopic(text: string): text is Topic {
  const [kind, id] = text.split(':', 2)
  return id === undefined
    ? (TOPICS as readonly string[]).includes(text)
    : ['file', 'delivery'].includes(kind!) && isUuid(id)
}

export async function readSnapshot(db: Db, workspaceId: string, topic: Topic): Promise<Snapshot> {
  const { mark, ...rest } = await read(db, workspaceId, topic)
  return { ...rest, mark: createHash('sha256').update(mark).digest('base64url').slice(0, MARK_LENGTH) }
}

async function read(db: Db, workspaceId: string, topic: Topic): Promise<Snapshot> {
  const [kind, id] = topic.split(':', 2)
  if (id !== undefined && !isUuid(id)) return { mark: '' }
  switch (kind) {
    case 'file':
      return oneFile(db, workspaceId, id!)
    case 'delivery':
      return newestDeliveries(db, and(eq(deliveries.workspaceId, workspaceId), eq(deliveries.id, id!)))
    case 'uploads':
      return uploadsUnderWay(db, workspaceId)
    case 'files':
      return {
        mark: JSON.stringify([await newestFile(db, workspaceId), await uploadsUnderWay(db, workspaceId)]),
      }
    case 'deliveries':
      return newestDeliveries(db, eq(deliveries.workspaceId, workspaceId))
    case 'overview': {
      const [files, sent] = [await read(db, workspaceId, 'files'), await read(db, workspaceId, 'deliveries')]
      return { mark: files.mark + sent.mark }
    }
    default:
      return newestMessage(db, workspaceId)
  }
}

async function uploadsUnderWay(db: Db, workspaceId: string): Promise<Snapshot> {
  const uploads = await db
    .select({
      id: files.id,
      pipeId: files.pipeId,
      filename: files.filename,
      offsetBytes: sql<number>`${offsetOf(sql`files`)}`.mapWith(files.offsetBytes),
      lengthBytes: files.lengthBytes,
      status: files.status,
      waiting: isWaiting,
      awaiting: sql<boolean>`coalesce(${files.decision} in ('asked', 'deferred'), false)`,
      retrying: sql<boolean>`${files.protocol} = 'url' and exists (select from ${imports} i where i.file_id = "files"."id"
        and i.failures > 0 and i.due_at is not null
        and (coalesce(i.claimed_until < now(), true) or coalesce("files"."last_byte_at" < i.failing_since, true)))`,
    })
    .from(files)
    .where(
      and(eq(files.workspaceId, workspaceId), inArray(files.status, ['uploading', 'transferring']), IS_FILE),
    )
    .orderBy(desc(files.id))
    .limit(LOOKED_AT)
  return { uploads, mark: JSON.stringify(uploads) }
}

async function newestFile(db: Db, workspaceId: string): Promise<string | undefined> {
  const [newest] = await db
    .select({ id: files.id })
    .from(files)
    .where(and(eq(files.workspaceId, workspaceId), IS_FILE))
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
      // Included because a resent delivery may otherwise look unchanged. The subquery needs the qualified name
      // "deliveries"."id", because "id" alone would be the attempt's.
      lastAttempt: sql<string | null>`(select a.id from ${attempts} a where a.delivery_id = "deliveries"."id"
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
    .select({
      status: files.status,
      offsetBytes: sql<number>`${offsetOf(sql`files`)}`.mapWith(files.offsetBytes),
      resumeCount: files.resumeCount,
      waiting: isWaiting,
    })
    .from(files)
    .where(and(eq(files.workspaceId, workspaceId), eq(files.id, fileId)))
  if (!file) return { mark: '' }
  const [last] = await db
    .select({ id: fileTimeline.id, detail: fileTimeline.detail })
    .from(fileTimeline)
    .where(and(eq(fileTimeline.fileId, fileId), gte(fileTimeline.id, firstUuidAfter(fileId))))
    .orderBy(desc(fileTimeline.id))
    .limit(1)
  const sent = await newestDeliveries(db, eq(deliveries.fileId, fileId))
  const repairs = file.status === 'partially_transferred' ? await repairsOf(db, fileId) : []
  return { mark: JSON.stringify([file, last, sent.mark, repairs]) }
}

/** The progress of repairs of destinations that are missing the object. */
function repairsOf(db: Db, fileId: string) {
  return db
    .select({
      status: fileDestinations.status,
      repairAt: fileDestinations.repairAt,
      claim: fileDestinations.repairClaim,
      parts: sql<number>`(select count(*)::int from ${repairedParts} p
        where p.file_id = "file_destinations"."file_id" and p.data_store_id = "file_destinations"."data_store_id")`,
    })
    .from(fileDestinations)
    .where(eq(fileDestinations.fileId, fileId))
    .orderBy(fileDestinations.position)
}

/** How often a stream polls. A NOTIFY makes it query immediately. */
const POLL_MS = seconds(1)
/** Streams end after this time, and the browser opens a new one, so that none outlives its session for long. */
const LIFE_MS = minutes(5)

type LiveRuntime = Pick<Runtime, 'db' | 'database' | 'clock' | 'config'>

/**
 * Yields a topic's snapshot whenever it differs from the previous one. Ends after `LIFE_MS`, when `signal` is aborted,
 * or when the session ends, loses its rights in the workspace or changes to another workspace.
 */
export async function* follow(
  { db, database, clock, config }: LiveRuntime,
  { workspaceId, sessionId }: { workspaceId: string; sessionId: string },
  topic: Topic,
  signal: AbortSignal,
  pollMs = POLL_MS,
): AsyncGenerator<Snapshot> {
  const bell = createBell(signal)
  const unlisten = await database.listen(LIVE_CHANNEL, (payload) => {
    if (payload === null || payload === workspaceId) bell.ring()
  })
  const endsAt = clock.now() + LIFE_MS
  try {
    let seen: string | undefined
    while (!signal.aborted && clock.now() < endsAt) {
      const session = await readSession({ db, clock, config }, sessionId)
      if (session?.workspace.id !== workspaceId || !may(session.actor, 'see')) return
      const snapshot = await readSnapshot(db, workspaceId, topic)
      if (snapshot.mark !== seen) yield snapshot
      seen = snapshot.mark
      await bell.wait(pollMs)
    }
  } finally {
    await unlisten()
  }
}
