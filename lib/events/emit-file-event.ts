import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/files.ts'
import { type Db, rows } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { uuidv7 } from '../kernel/ids.ts'
import { invariant } from '../kernel/invariant.ts'
import type { Queue } from '../queue/open-queue.ts'
import { type FileEvent, fileEventBody } from './file-event.ts'
import { writeEvent } from './write-event.ts'

/**
 * Call this in the transaction that changes the status of files, after the change. It writes the event of each, its
 * delivery and the job of the first attempt, so that none of them is there without the others, if the Pipe's
 * webhook output is on and asks for that status. `transferred` needs no asking.
 */
export async function emitFileEvent(
  tx: Db,
  { queue, clock }: { queue: Queue; clock: Clock },
  ...fileIds: string[]
): Promise<void> {
  const found = await filesWithOutput(tx, fileIds)
  await Promise.all(found.map((ended) => emit(tx, { queue, clock }, ended)))
}

type Ended = Omit<FileEvent['file'], 'sizeBytes' | 'crc32'> & {
  workspaceId: string
  lengthBytes: number | null
  offsetBytes: number
  crc32: number
  concat: 'partial' | 'final' | null
  output: { id: string; url: string; statuses: FileStatus[] }
}

async function emit(
  tx: Db,
  { queue, clock }: { queue: Queue; clock: Clock },
  { output, ...file }: Ended,
): Promise<void> {
  // Contract, section 5: partial uploads send no event.
  if (file.concat === 'partial') return
  if (file.status !== 'transferred' && !output.statuses.includes(file.status)) return

  const at = new Date(clock.now())
  const id = uuidv7(at.getTime())
  const done = file.status === 'transferred'
  invariant(!done || file.lengthBytes !== null, 'a transferred file has a length')
  const sizeBytes = done ? file.lengthBytes! : file.offsetBytes
  const body = fileEventBody({ id, at, file: { ...file, sizeBytes, crc32: done ? file.crc32 : null } })
  const { workspaceId, pipeId, id: fileId } = file
  await writeEvent(tx, queue, { id, workspaceId, pipeId, fileId, body, at, output })
}

/** The limit makes PostgreSQL look each up by its index, however it guesses their number. */
function filesWithOutput(tx: Db, fileIds: string[]): Promise<Ended[]> {
  return rows<Ended>(
    tx,
    sql`select f.id, f.workspace_id as "workspaceId", f.pipe_id as "pipeId", f.filename, f.filetype, f.status,
      f.length_bytes as "lengthBytes", f.offset_bytes as "offsetBytes", f.sender_name as "senderName", f.protocol, f.subject,
      f.metadata, f.upload_metadata as "uploadMetadata", f.crc32, f.concat,
      json_build_object('id', o.id, 'url', o.url, 'statuses', o.statuses) as output,
      (select coalesce(json_agg(json_build_object('dataStoreId', d.data_store_id, 'status', d.status,
          'bucket', d.bucket, 'key', d.key, 'etag', d.etag) order by d.data_store_id), '[]'::json)
        from file_destinations d where d.file_id = f.id) as destinations
    from json_array_elements_text(${JSON.stringify(fileIds)}::json) as ended(id)
      cross join lateral (select * from files where id = ended.id::uuid limit 1) f
      join webhook_outputs o on o.pipe_id = f.pipe_id and o.enabled`,
  )
}
