import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../db/database.ts'
import { SluiceError } from '../../kernel/errors.ts'
import { uuidv7 } from '../../kernel/ids.ts'
import { monthOf } from '../../usage/count-bytes.ts'
import { type Quota, quotaExceeded, reserved } from '../../usage/reserve.ts'
import type { LeaseTerms } from './lease-terms.ts'

/** All that a new upload is, before its first byte. */
export type NewUpload = {
  fileId: string
  workspaceId: string
  pipeId: string
  tokenId: string
  /** The token allows only so many uploads. */
  maxFiles: number | null
  senderId: string
  senderName: string
  subject: string | null
  filename: string
  filetype: string | null
  uploadMetadataHeader: string | null
  uploadMetadata: Record<string, string>
  metadata: Record<string, string>
  lengthBytes: number | null
  partBytes: number | null
  concat: 'partial' | null
  expirySeconds: number
  expiresAtMs: number
  expiresByMs: number
  destination: { dataStoreId: string; bucket: string; key: string }
}

/**
 * File, destination, reservation and the token's count in one statement. With `lease` the creator holds the upload
 * at once, with fence 1 and the first `numbers` part numbers.
 */
export async function insertUpload(
  db: Db,
  upload: NewUpload,
  options: { quota: Quota; lease?: LeaseTerms & { numbers: number }; nowMs: number },
): Promise<void> {
  const { quota, nowMs } = options
  // The pieces of one file do not count as files: what they are joined to does.
  if (upload.maxFiles === null || upload.concat === 'partial') return insert(db, upload, options)
  await db.transaction(async (tx) => {
    const [allowed] = await rows(
      tx,
      sql`select 1 from tokens where id = ${upload.tokenId}::uuid and files_created < max_files for update`,
    )
    if (!allowed) throw new SluiceError('token_exhausted', 'Ask your backend for a new token.')
    await insert(tx, upload, { ...options, quota, nowMs })
  })
}

async function insert(
  db: Db,
  upload: NewUpload,
  { quota, lease, nowMs }: { quota: Quota; lease?: LeaseTerms & { numbers: number }; nowMs: number },
): Promise<void> {
  const { destination: to, lengthBytes } = upload
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const leaseUntil = lease
    ? sql`now() + ${lease.leaseMs}::int * interval '1 millisecond'`
    : sql`null::timestamptz`
  const made = await rows(
    db,
    sql`
    with ${reserved(upload.workspaceId, lengthBytes ?? 0, quota, nowMs)},
    made as (
      insert into files (id, workspace_id, pipe_id, token_id, sender_id, sender_name, subject, filename, filetype,
        upload_metadata_header, upload_metadata, metadata, length_bytes, part_bytes, concat, expiry_seconds, expires_at, expires_by,
        created_at, reserved_bytes, reserved_month, lease_holder, lease_fence, lease_until, reserved_part_number)
      select ${upload.fileId}::uuid, ${upload.workspaceId}::uuid, ${upload.pipeId}, ${upload.tokenId}::uuid,
        ${upload.senderId}::uuid, ${upload.senderName}, ${upload.subject}, ${upload.filename}, ${upload.filetype},
        ${upload.uploadMetadataHeader}, ${JSON.stringify(upload.uploadMetadata)}::jsonb,
        ${JSON.stringify(upload.metadata)}::jsonb, ${lengthBytes}::bigint, ${upload.partBytes}::bigint,
        ${upload.concat}, ${upload.expirySeconds}::int, ${new Date(upload.expiresAtMs).toISOString()}::timestamptz,
        ${new Date(upload.expiresByMs).toISOString()}::timestamptz,
        ${now}, ${lengthBytes ?? 0}::bigint, ${monthOf(nowMs)}, ${lease?.holder ?? null},
        ${lease ? 1 : 0}::int, ${leaseUntil}, ${lease?.numbers ?? 0}::int
      from reserved returning id
    ), sent_to as (
      insert into file_destinations (file_id, data_store_id, bucket, key)
      select id, ${to.dataStoreId}::uuid, ${to.bucket}, ${to.key} from made
    ), noted as (
      insert into file_timeline (id, file_id, kind, at) select ${uuidv7(nowMs)}::uuid, id, 'created', ${now} from made
    ), spent as (
      update tokens set files_created = files_created + 1 from made
      where tokens.id = ${upload.tokenId}::uuid and ${upload.concat}::text is null
    )
    select id from made`,
  )
  if (made.length === 0) throw quotaExceeded(nowMs)
}
