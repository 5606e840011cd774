import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { NewUpload } from './insert-upload.ts'
import type { LeaseHolder } from './lease-terms.ts'

type Final = Omit<NewUpload, 'lengthBytes' | 'concat' | 'partBytes'> & {
  partialIds: readonly string[]
  concatHeader: string
  bytes: number
  crc32: number
}

type Options = { lease: LeaseHolder; nowMs: number }

/**
 * Inserts a file that begins as `transferring`: every byte is durable, and was counted with its partial upload. Its
 * pieces then no longer expire and cannot be joined again. False if another file has already taken one of them.
 */
export async function insertFinal(db: Db, upload: Final, options: Options): Promise<boolean> {
  return db.transaction(async (tx) => {
    if (!(await lockPieces(tx, upload.partialIds))) return false
    await insert(tx, upload, options)
    await takePieces(tx, upload, options.nowMs)
    return true
  })
}

const among = (partialIds: readonly string[]) =>
  sql`id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(partialIds)}::jsonb))`

async function lockPieces(tx: Db, partialIds: readonly string[]): Promise<boolean> {
  const free = await rows(
    tx,
    sql`
    select id from files where ${among(partialIds)} and concat = 'partial' and status = 'transferred' and retired_at is null
    order by id for update`,
  )
  return free.length === partialIds.length
}

async function takePieces(tx: Db, { fileId, partialIds }: Final, nowMs: number): Promise<void> {
  await tx.execute(sql`
    update files set retired_at = ${new Date(nowMs).toISOString()}::timestamptz, joined_into = ${fileId}::uuid
    where ${among(partialIds)}`)
}

async function insert(db: Db, upload: Final, { lease, nowMs }: Options): Promise<void> {
  const { destination: to } = upload
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const made = await rows(
    db,
    sql`
    with spent as (
      update tokens set files_created = files_created + 1
      where id = ${upload.tokenId}::uuid and (max_files is null or files_created < max_files) returning 1
    ), made as (
      insert into files (id, workspace_id, pipe_id, token_id, sender_id, sender_name, subject, filename, filetype,
        upload_metadata_header, upload_metadata, metadata, status, length_bytes, offset_bytes, counted_bytes, crc32,
        concat, concat_parts, concat_header, expiry_seconds, expires_at, expires_by, created_at, last_byte_at, complete_sent_at,
        lease_holder, lease_fence, lease_until,
        last_request_id, last_traceparent)
      select ${upload.fileId}::uuid, ${upload.workspaceId}::uuid, ${upload.pipeId}, ${upload.tokenId}::uuid,
        ${upload.senderId}::uuid, ${upload.senderName}, ${upload.subject}, ${upload.filename}, ${upload.filetype},
        ${upload.uploadMetadataHeader}, ${JSON.stringify(upload.uploadMetadata)}::jsonb,
        ${JSON.stringify(upload.metadata)}::jsonb, 'transferring', ${upload.bytes}::bigint, ${upload.bytes}::bigint,
        ${upload.bytes}::bigint, ${upload.crc32}::bigint, 'final',
        (select array_agg(value::uuid order by ordinality)
          from jsonb_array_elements_text(${JSON.stringify(upload.partialIds)}::jsonb) with ordinality),
        ${upload.concatHeader}, ${upload.expirySeconds}::int, ${new Date(upload.expiresAtMs).toISOString()}::timestamptz,
        ${new Date(upload.expiresByMs).toISOString()}::timestamptz, ${now}, ${now}, ${now},
        ${lease.holder}, 1, now() + ${lease.leaseMs}::int * interval '1 millisecond',
        ${upload.request?.id ?? null}, ${upload.request?.traceparent ?? null}
      from spent returning id
    ), sent_to as (
      insert into file_destinations (file_id, data_store_id, bucket, key, status)
      select id, ${to.dataStoreId}::uuid, ${to.bucket}, ${to.key}, 'transferring' from made
    ), noted as (
      insert into file_timeline (id, file_id, kind, at) select ${uuidv7(nowMs)}::uuid, id, 'created', ${now} from made
    )
    select id from made`,
  )
  if (made.length === 0) throw new SluiceError('token_exhausted', 'Ask your backend for a new token.')
}
