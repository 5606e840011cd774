import { sql } from 'drizzle-orm'
import type { EventKind } from '#drizzle/schema/pipes.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { ENDED_FILE, type EndedFile, fileEventBody, toEventFile } from './file-event.ts'

/** How long an event can be viewed and sent. Events are deleted by month, once the entire month is older than this. */
export const EVENTS_KEPT_MS = days(30)

export const keptSince = (nowMs: number): Date => new Date(nowMs - EVENTS_KEPT_MS)

export type EventPlace = { workspaceId: string; pipeId?: string | undefined }

const ofPlace = ({ workspaceId, pipeId }: EventPlace) =>
  sql`workspace_id = ${workspaceId}::uuid ${pipeId === undefined ? sql`` : sql`and pipe_id = ${pipeId}`}`

/** The oldest events after a given one, using only an index. */
export async function listEventIds(
  db: Db,
  place: EventPlace,
  after: string,
  limit: number,
): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select id from events where ${ofPlace(place)} and id > ${after}::uuid order by id limit ${limit}`,
  )
  return found.map(({ id }) => id)
}

type EventRow = EndedFile & { eventId: string; kind: EventKind; at: string | Date; payload: string | null }

/**
 * Reads the webhook bodies of events, even if no webhook was sent. An event about a file whose record was erased has
 * no body.
 */
export async function readEventBodies(
  db: Db,
  ids: string[],
): Promise<{ id: string; kind: EventKind; body: string }[]> {
  if (ids.length === 0) return []
  const found = await rows<EventRow>(
    db,
    sql`select e.id as "eventId", e.kind, e.created_at as at, e.payload, ${ENDED_FILE}
    from json_array_elements_text(${JSON.stringify(ids)}::json) as wanted(id)
      join events e on e.id = wanted.id::uuid left join files f on f.id = e.file_id
    order by e.id`,
  )
  return found.flatMap(({ eventId: id, kind, at, payload, ...file }) => {
    if (payload !== null) return [{ id, kind, body: payload }]
    return file.id
      ? [{ id, kind, body: fileEventBody({ id, at: new Date(at), file: toEventFile(file) }) }]
      : []
  })
}
