import { sql } from 'drizzle-orm'
import type { DestinationReason, DestinationStatus, FileStatus } from '#drizzle/schema/files.ts'
import type { EventKind } from '#drizzle/schema/pipes.ts'
import { invariant } from '../platform/kernel/errors.ts'

/** The envelope of every event. */
export type EventFrame = { id: string; at: Date; test?: true }

export function eventBody(kind: EventKind, { id, at, test }: EventFrame, data: object): string {
  return JSON.stringify({
    id,
    type: kind,
    event: kind,
    timestamp: at.toISOString(),
    ...(test && { test }),
    data,
  })
}

/** The data of a `file.status_changed`. The names in `data` come from the specification. */
export type FileEvent = EventFrame & {
  file: {
    id: string
    pipeId: string
    filename: string
    filetype: string | null
    status: FileStatus
    sizeBytes: number
    senderName: string
    protocol: string
    subject: string | null
    metadata: Record<string, string>
    uploadMetadata: Record<string, string>
    /** The CRC32 of the entire object, if it exists. */
    crc32: number | null
    /** The SHA-256 of the entire object, if its Pipe computes it. */
    sha256?: string | null
    /** The decision hook's answer; null if there is none. */
    decision?: { state: string; reason: string | null; result: unknown } | null
    destinations: {
      dataStoreId: string
      status: DestinationStatus
      bucket: string
      key: string
      etag: string | null
      required: boolean
      reason?: DestinationReason | null
      certainty?: string | null
    }[]
  }
}

/** The body is only written once, because every attempt sends the same bytes. */
export function fileEventBody({ file, ...event }: FileEvent): string {
  return eventBody('file.status_changed', event, {
    pipe_id: file.pipeId,
    file_id: file.id,
    filename: file.filename,
    filetype: file.filetype,
    status: file.status,
    size: file.sizeBytes,
    sender: file.senderName,
    protocol: file.protocol,
    subject: file.subject,
    metadata: file.metadata,
    uploadMetadata: file.uploadMetadata,
    checksum: file.crc32 === null ? null : `crc32:${file.crc32.toString(16).padStart(8, '0')}`,
    ...(file.sha256 && { sha256: file.sha256 }),
    ...(file.decision && { decision: file.decision }),
    destinations: file.destinations.map(({ dataStoreId, ...rest }) => ({
      destinationId: dataStoreId,
      status: rest.status,
      bucket: rest.bucket,
      key: rest.key,
      etag: rest.etag,
      required: rest.required,
      ...(rest.reason && { reason: rest.reason }),
      ...(rest.certainty === 'inferred' && { certainty: 'inferred' }),
    })),
  })
}

/** An ended file as stored in the database. It no longer changes. */
export type EndedFile = Omit<FileEvent['file'], 'sizeBytes' | 'crc32' | 'sha256'> & {
  workspaceId: string
  lengthBytes: number | null
  offsetBytes: number
  /** Null if Sluice has not read every byte. */
  crc32: number | null
  sha256: string | null
}

/** Sluice has read every byte of a file `f`, and did not just find its object. */
const IS_READ = sql`not exists (select from file_destinations d where d.file_id = f.id and d.certainty = 'found')`

/** The columns of an `EndedFile`, for a file `f`. */
export const ENDED_FILE = sql`f.id, f.workspace_id as "workspaceId", f.pipe_id as "pipeId", f.filename, f.filetype, f.status,
  f.length_bytes as "lengthBytes", f.offset_bytes as "offsetBytes", f.sender_name as "senderName", f.protocol, f.subject,
  f.metadata, f.upload_metadata as "uploadMetadata",
  case when ${IS_READ} then f.crc32 end as crc32,
  case when f.sha256 is not null and f.sha256_bytes = f.offset_bytes and ${IS_READ} then f.sha256 end as sha256,
  case when f.decision in ('allowed', 'rejected') then (select json_build_object('state', d.state, 'reason', d.reason, 'result', d.result)
    from file_decisions d where d.file_id = f.id and d.hook = 'before_complete') end as decision,
  (select coalesce(json_agg(json_build_object('dataStoreId', d.data_store_id, 'status', d.status,
      'bucket', d.bucket, 'key', d.key, 'etag', d.etag, 'required', d.required,
      'certainty', d.certainty, 'reason', case when d.certainty = 'unknown' then 'unknown' else d.reason end) order by d.position, d.data_store_id), '[]'::json)
    from file_destinations d where d.file_id = f.id) as destinations`

/** The size of an unfinished file is its confirmed offset. */
export function toEventFile({
  lengthBytes,
  offsetBytes,
  crc32,
  sha256,
  ...file
}: EndedFile): FileEvent['file'] {
  const done = file.status === 'transferred' || file.status === 'partially_transferred'
  invariant(!done || lengthBytes !== null, 'a transferred file has a length')
  return {
    ...file,
    sizeBytes: done ? lengthBytes! : offsetBytes,
    ...(done ? { crc32, sha256 } : { crc32: null, sha256: null }),
  }
}
