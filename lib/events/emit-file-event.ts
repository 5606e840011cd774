import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/files.ts'
import { type Db, rows } from '../platform/db/database.ts'
import type { Clock } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import type { Queue } from '../platform/queue.ts'
import { ENDED_FILE, type EndedFile, fileEventBody, toEventFile } from './file-event.ts'
import { tallyFiles } from './tally.ts'
import { type NewEvent, writeEvents } from './write-events.ts'

/**
 * Call this in the transaction that changes the status of files, after the change. It writes the event of each. If the
 * Pipe's webhook output is on and asks for that status, its delivery and the job of the first attempt are written with
 * it, so that none of them exists without the others; else it is kept as missed. `transferred` needs no asking. The end of
 * each file is noted to be counted, too.
 */
export async function emitFileEvent(
  tx: Db,
  { queue, clock }: { queue: Queue; clock: Clock },
  ...fileIds: string[]
): Promise<void> {
  // Partial uploads send no event: the file that they are joined to does.
  const ended = (await endedFiles(tx, fileIds, clock.now())).filter(({ concat }) => concat !== 'partial')
  const at = new Date(clock.now())
  const heard = ended.filter(isHeard).map((file) => eventOf(file, at))
  await keepMissed(
    tx,
    ended.filter((file) => !isHeard(file)),
    at.getTime(),
  )
  if (heard.length > 0) await writeEvents(tx, queue, heard, at)
}

type Ended = EndedFile & {
  concat: 'partial' | 'final' | null
  requestId: string | null
  traceparent: string | null
  /** Null where it is off. */
  output: { id: string; url: string; statuses: FileStatus[] } | null
}
type Heard = Ended & { output: NonNullable<Ended['output']> }

function isHeard(file: Ended): file is Heard {
  return file.output !== null && (file.status === 'transferred' || file.output.statuses.includes(file.status))
}

function eventOf({ output, ...file }: Heard, at: Date): NewEvent {
  const id = uuidv7(at.getTime())
  const { workspaceId, pipeId, id: fileId, requestId, traceparent } = file
  const body = fileEventBody({ id, at, file: toEventFile(file) })
  return { id, workspaceId, pipeId, fileId, body, output, requestId, traceparent }
}

async function keepMissed(tx: Db, files: Ended[], nowMs: number): Promise<void> {
  if (files.length === 0) return
  const missed = files.map((file) => ({
    id: uuidv7(nowMs),
    workspace: file.workspaceId,
    pipe: file.pipeId,
    file: file.id,
    status: file.status,
  }))
  await rows(
    tx,
    sql`insert into events (id, workspace_id, pipe_id, file_id, missed_status, created_at)
      select id, workspace, pipe, file, status, ${new Date(nowMs).toISOString()}::timestamptz
      from json_to_recordset(${JSON.stringify(missed)}::json)
        as missed(id uuid, workspace uuid, pipe text, file uuid, status text)`,
  )
}

/** The limit makes PostgreSQL look each up by its index, however it guesses their number. */
function endedFiles(tx: Db, fileIds: string[], nowMs: number): Promise<Ended[]> {
  return rows<Ended>(
    tx,
    sql`with f as (
      select found.* from json_array_elements_text(${JSON.stringify(fileIds)}::json) as ended(id)
        cross join lateral (select * from files where id = ended.id::uuid limit 1) found
    ), ${tallyFiles(sql`f`, nowMs)}
    select ${ENDED_FILE}, f.concat, f.last_request_id as "requestId", f.last_traceparent as traceparent,
      case when o.id is not null then json_build_object('id', o.id, 'url', o.url, 'statuses', o.statuses) end as output
    from f left join webhook_outputs o on o.pipe_id = f.pipe_id and o.enabled`,
  )
}
