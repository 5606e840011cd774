import { and, eq, sql } from 'drizzle-orm'
import { fileDestinations, files, webhookOutputs } from '#drizzle/schema/index.ts'
import type { Db } from '../db/database.ts'
import type { Clock } from '../kernel/clock.ts'
import { uuidv7 } from '../kernel/ids.ts'
import { invariant } from '../kernel/invariant.ts'
import type { Queue } from '../queue/open-queue.ts'
import { type FileEvent, fileEventBody } from './file-event.ts'
import { writeEvent } from './write-event.ts'

/**
 * Call this in the transaction that changes a file's status, after the change. It writes the event, its
 * delivery and the job of the first attempt, so that none of them is there without the others, if the Pipe's
 * webhook output is on and asks for that status. `transferred` needs no asking.
 */
export async function emitFileEvent(
  tx: Db,
  { queue, clock }: { queue: Queue; clock: Clock },
  fileId: string,
): Promise<void> {
  const { id: outputId, url, statuses } = webhookOutputs
  const [found] = await tx
    .select({ file: fileColumns, output: { id: outputId, url, statuses }, destinations: destinationsOf })
    .from(files)
    .innerJoin(webhookOutputs, and(eq(webhookOutputs.pipeId, files.pipeId), eq(webhookOutputs.enabled, true)))
    .where(eq(files.id, fileId))
    .prepare('file_event')
    .execute()
  if (!found) return
  const { file, output, destinations } = found
  // Contract, section 5: partial uploads send no event.
  if (file.concat === 'partial') return
  if (file.status !== 'transferred' && !output.statuses.includes(file.status)) return

  const at = new Date(clock.now())
  const id = uuidv7(at.getTime())
  const done = file.status === 'transferred'
  invariant(!done || file.lengthBytes !== null, 'a transferred file has a length')
  const body = fileEventBody({
    id,
    at,
    file: {
      ...file,
      sizeBytes: done ? file.lengthBytes! : file.offsetBytes,
      crc32: done ? file.crc32 : null,
      destinations,
    },
  })
  const { workspaceId, pipeId } = file
  await writeEvent(tx, queue, { id, workspaceId, pipeId, fileId, body, at, output })
}

const fileColumns = {
  id: files.id,
  workspaceId: files.workspaceId,
  pipeId: files.pipeId,
  filename: files.filename,
  filetype: files.filetype,
  status: files.status,
  lengthBytes: files.lengthBytes,
  offsetBytes: files.offsetBytes,
  senderName: files.senderName,
  protocol: files.protocol,
  subject: files.subject,
  metadata: files.metadata,
  uploadMetadata: files.uploadMetadata,
  crc32: files.crc32,
  concat: files.concat,
}

type Destination = FileEvent['file']['destinations'][number]

const { dataStoreId, status, bucket, key, etag, fileId: ofFile } = fileDestinations
const destinationsOf = sql<Destination[]>`(
  select coalesce(json_agg(json_build_object('dataStoreId', ${dataStoreId}, 'status', ${status}, 'bucket', ${bucket},
    'key', ${key}, 'etag', ${etag}) order by ${dataStoreId}), '[]'::json)
  from ${fileDestinations} where ${ofFile} = ${files.id})`
