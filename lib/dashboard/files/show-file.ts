import { and, asc, desc, eq, gte, isNull } from 'drizzle-orm'
import { attempts, deliveries, fileDestinations, files, fileTimeline, tokens } from '#drizzle/schema/index.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Db } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { firstUuidAfter, isUuid } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type FileWithTimeline, type TimelineEntry, toFile } from './file.ts'
import { FILE_COLUMNS, readBatchNames, readDecisions } from './list-files.ts'

/** The limit for each kind of entry: an upload sent in tiny requests would have more entries than anyone reads. */
export const MAX_ENTRIES = 500

/** A file and its complete history: its token, each request and resume, its end, and every webhook attempt. */
export async function showFile(
  { db }: Pick<Runtime, 'db'>,
  actor: Actor,
  id: string,
): Promise<FileWithTimeline> {
  const row = await findFile(db, actor, id)
  const [decisions, names, destinations, ...entries] = await Promise.all([
    readDecisions(db, [row]),
    readBatchNames(db, [row]),
    db.select().from(fileDestinations).where(eq(fileDestinations.fileId, id)),
    tokenIssued(db, row),
    ownEntries(db, id),
    webhookAttempts(db, id),
  ])
  const timeline = entries.flat().sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
  return { ...toFile(row, destinations, decisions.get(id), names.get(row.batchId ?? '')), timeline }
}

/** Whether a timeline may have more entries than it lists. */
export const isCut = (timeline: TimelineEntry[]): boolean =>
  [true, false].some(
    (isWebhook) =>
      timeline.filter(({ kind }) => kind !== 'token_issued' && (kind === 'webhook_attempt') === isWebhook)
        .length >= MAX_ENTRIES,
  )

async function tokenIssued(db: Db, { tokenId }: typeof files.$inferSelect): Promise<TimelineEntry[]> {
  if (!tokenId) return []
  const found = await db.select().from(tokens).where(eq(tokens.id, tokenId))
  return found.map(({ createdAt }) => ({
    at: createdAt.toISOString(),
    kind: 'token_issued',
    detail: { tokenId },
  }))
}

async function ownEntries(db: Db, id: string): Promise<TimelineEntry[]> {
  const rows = await db
    .select()
    .from(fileTimeline)
    .where(and(eq(fileTimeline.fileId, id), gte(fileTimeline.id, firstUuidAfter(id))))
    .orderBy(asc(fileTimeline.id))
    .limit(MAX_ENTRIES)
  return rows.map(({ at, kind, detail }) => ({ at: at.toISOString(), kind, detail }))
}

async function webhookAttempts(db: Db, id: string): Promise<TimelineEntry[]> {
  const rows = await db
    .select({ attempt: attempts, delivery: { id: deliveries.id, url: deliveries.url } })
    .from(deliveries)
    .innerJoin(attempts, eq(attempts.deliveryId, deliveries.id))
    .where(eq(deliveries.fileId, id))
    .orderBy(asc(attempts.id))
    .limit(MAX_ENTRIES)
  return rows.map(({ attempt, delivery }) => ({
    at: attempt.at.toISOString(),
    kind: 'webhook_attempt',
    detail: {
      deliveryId: delivery.id,
      url: delivery.url,
      trigger: attempt.trigger,
      status: attempt.status,
      error: attempt.error,
      durationMs: attempt.durationMs,
    },
  }))
}

/** A file in another workspace is reported as missing. */
export async function findFile(
  db: Db,
  actor: Actor,
  id: string,
  lock?: 'update',
): Promise<typeof files.$inferSelect> {
  const query = db
    .select(FILE_COLUMNS)
    .from(files)
    .where(
      and(
        eq(files.id, id),
        eq(files.workspaceId, actor.workspaceId),
        isNull(files.erasedAt),
        isNull(files.laneOf),
      ),
    )
  const [row] = isUuid(id) ? await (lock ? query.for(lock) : query) : []
  if (!row) throw new SluiceError('not_found', 'There is no such file.')
  return row
}

/** The server's view of a trial upload: its status, key, resumes and webhook. */
export async function trialResult({ db }: Pick<Runtime, 'db'>, actor: Actor, fileId: string) {
  if (!isUuid(fileId)) return undefined
  const [file] = await db
    .select({
      status: files.status,
      key: fileDestinations.key,
      resumeCount: files.resumeCount,
      savedBytes: files.savedBytes,
    })
    .from(files)
    .innerJoin(fileDestinations, eq(fileDestinations.fileId, files.id))
    .where(and(eq(files.id, fileId), eq(files.workspaceId, actor.workspaceId)))
    .orderBy(fileDestinations.position)
    .limit(1)
  if (!file) return undefined
  const [delivery] = await db
    .select({ state: deliveries.state, lastStatus: deliveries.lastStatus })
    .from(deliveries)
    .where(eq(deliveries.fileId, fileId))
    .orderBy(desc(deliveries.id))
    .limit(1)
  return { ...file, delivery }
}
