import { type SQL, sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/files.ts'
import { type Db, rows } from '../platform/db/database.ts'
import type { Clock } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { Queue } from '../platform/queue.ts'
import type { EventData } from './event-schemas.ts'
import { ENDED_FILE, type EndedFile, eventBody, fileEventBody, toEventFile } from './file-event.ts'
import { address, type EventOutput, outputsOf } from './outputs-of.ts'
import { tallyFiles } from './tally.ts'
import { type NewEvent, writeEvents } from './write-events.ts'

type EmitRuntime = { queue: Queue; clock: Clock }

/**
 * Call this in the transaction that changes the status of files, after the change. For each file, it writes an event
 * and a delivery for each output of the file's Pipe and workspace that subscribes to the status. The jobs for the first
 * attempts are created in the same transaction. If an output misses an event, that is recorded with the event. Each
 * file's end is also recorded for the statistics.
 */
export async function emitFileEvent(
  tx: Db,
  { queue, clock }: EmitRuntime,
  ...fileIds: string[]
): Promise<void> {
  const at = new Date(clock.now())
  const counted = tallyFiles(sql`f`, at.getTime())
  await writeEnds(tx, queue, await endedFiles(tx, fileIds, sql`, ${counted}`), at)
}

/**
 * Emits the event for a repaired file. The file was already counted as ended when it became `partially_transferred`.
 */
export async function emitFileRepaired(tx: Db, { queue, clock }: EmitRuntime, fileId: string): Promise<void> {
  await writeEnds(tx, queue, await endedFiles(tx, [fileId]), new Date(clock.now()))
}

async function writeEnds(tx: Db, queue: Queue, files: readonly Ended[], at: Date): Promise<void> {
  // There is no event for a partial upload, only for the file that it is joined into.
  const ended = files.filter(({ concat }) => concat !== 'partial').map((file) => endOf(file, at))
  await writeEvents(tx, queue, ended, at)
}

type Ended = EndedFile & {
  concat: 'partial' | 'final' | null
  requestId: string | null
  traceparent: string | null
  outputs: EventOutput[]
}

function endOf({ outputs, ...file }: Ended, at: Date): NewEvent {
  const id = uuidv7(at.getTime())
  const { workspaceId, pipeId, id: fileId, requestId, traceparent, status } = file
  const { to, isMissed } = address(outputs, 'file.status_changed', status)
  const body = to.length > 0 ? fileEventBody({ id, at, file: toEventFile(file) }) : null
  const missed = isMissed ? status : null
  return {
    id,
    workspaceId,
    pipeId,
    fileId,
    kind: 'file.status_changed',
    body,
    to,
    missed,
    requestId,
    traceparent,
  }
}

/** `limit 1` makes PostgreSQL look up each file by index, however many rows it expects. */
function filesOf(fileIds: string[]): SQL {
  return sql`select found.* from json_array_elements_text(${JSON.stringify(fileIds)}::json) as wanted(id)
      cross join lateral (select * from files where id = wanted.id::uuid limit 1) found`
}

function endedFiles(tx: Db, fileIds: string[], also = sql``): Promise<Ended[]> {
  return rows<Ended>(
    tx,
    sql`with f as (${filesOf(fileIds)})${also}
    select ${ENDED_FILE}, f.concat, f.last_request_id as "requestId", f.last_traceparent as traceparent,
      ${outputsOf(sql`f.pipe_id`, sql`f.workspace_id`)} as outputs
    from f`,
  )
}

type Created = Omit<EventData<'file.created'>, 'status'> & {
  workspaceId: string
  status: FileStatus
  requestId: string | null
  traceparent: string | null
  outputs: EventOutput[]
}

/** Emits the events for new files. Few outputs subscribe to them, so an event is only written if an output does. */
export async function emitFileCreated(
  tx: Db,
  { queue, clock }: EmitRuntime,
  ...fileIds: string[]
): Promise<void> {
  const at = new Date(clock.now())
  const created = await rows<Created>(
    tx,
    sql`select f.workspace_id as "workspaceId", f.pipe_id, f.id as file_id, f.filename, f.filetype, f.status,
      f.length_bytes as size, f.sender_name as sender, f.protocol, f.subject, f.metadata,
      f.upload_metadata as "uploadMetadata", f.last_request_id as "requestId", f.last_traceparent as traceparent,
      ${outputsOf(sql`f.pipe_id`, sql`f.workspace_id`)} as outputs
    from (${filesOf(fileIds)}) f`,
  )
  const wanted = created
    .map((file) => beginningOf(file, at))
    .filter(({ to, missed }) => to.length > 0 || missed)
  await writeEvents(tx, queue, wanted, at)
}

function beginningOf({ outputs, workspaceId, requestId, traceparent, ...file }: Created, at: Date): NewEvent {
  const id = uuidv7(at.getTime())
  const kind = 'file.created'
  const { to, isMissed } = address(outputs, kind, kind)
  // The status at creation, even if the same transaction has changed it since.
  const data: EventData<typeof kind> = { ...file, status: 'uploading' }
  const body = eventBody(kind, { id, at }, data)
  const missed = isMissed ? kind : null
  const { pipe_id: pipeId, file_id: fileId } = file
  return { id, workspaceId, pipeId, fileId, kind, body, to, missed, requestId, traceparent }
}
