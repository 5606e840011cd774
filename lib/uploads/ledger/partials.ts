import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { joinBatches } from './batches.ts'
import { afterLateRequests } from './endings.ts'
import type { EmitCreated, NewUpload } from './insert-upload.ts'
import { type Claim, LEASE_COLUMNS, leaseValues } from './lease-terms.ts'
import { insertNote } from './timeline.ts'
import type { CreationRight } from './upload-rights.ts'

/**
 * Partial uploads: pieces of a file that are separate objects until they are joined. A piece can only be joined once.
 * Pieces that nobody joins are deleted after a while.
 */

/** A piece that is missing at a best-effort destination can still be joined at the other destinations. */
const MADE = sql`'transferred', 'partially_transferred'`

/** Common clients send a file in two to eight pieces. */
const PARTIALS_PER_FILE = 8

/**
 * Limits a token's partial uploads, and their bytes, to what its files can need. A partial upload of unknown length
 * counts as the largest size that the token allows.
 */
export async function assertFewPartials(
  tx: Db,
  { tokenId, maxFiles, maxBytes }: Pick<NewUpload, 'tokenId' | 'maxFiles' | 'maxBytes'>,
  nowMs: number,
): Promise<void> {
  const [open] = await rows<{ count: number; bytes: number }>(
    tx,
    sql`select count(*)::int as count, coalesce(sum(coalesce(length_bytes, ${maxBytes}::bigint, 0)), 0)::bigint as bytes
      from files where concat = 'partial' and retired_at is null and token_id = ${tokenId}::uuid
        and expires_at > ${new Date(nowMs).toISOString()}::timestamptz
        and status in ('uploading', 'transferring', ${MADE})`,
  )
  const { count, bytes } = open!
  const mostFiles = maxFiles! * PARTIALS_PER_FILE
  const mostBytes = maxBytes === null ? Infinity : maxFiles! * maxBytes
  if (count <= mostFiles && bytes <= mostBytes) return
  throw new SluiceError(
    'token_exhausted',
    count > mostFiles
      ? `At most ${mostFiles} partial uploads may be waiting to be joined. Join or delete some.`
      : `At most ${mostBytes} bytes of partial uploads may be waiting to be joined. Join or delete some.`,
  )
}

/**
 * The final upload that an earlier request created from these pieces. Joining can be slow and its response can get
 * lost, so a repeated request returns the same file.
 */
export async function findFinal(
  db: Db,
  { token, pipe }: CreationRight,
  wanted: { partialIds: readonly string[]; uploadMetadataHeader: string | null },
): Promise<string | null> {
  const partialIds = JSON.stringify(wanted.partialIds)
  const [made] = await rows<{ id: string }>(
    db,
    sql`
    select f.id from files p join files f on f.id = p.joined_into
    where p.id = ${wanted.partialIds[0]!}::uuid and f.pipe_id = ${pipe.id} and f.sender_id = ${token.senderId}::uuid
      and f.subject is not distinct from ${token.subject} and f.retired_at is null
      and (f.status in ('transferring', ${MADE}) or f.decision = 'rejected')
      and f.upload_metadata_header is not distinct from ${wanted.uploadMetadataHeader}
      and f.concat_parts = (select array_agg(value::uuid order by ordinality)
        from jsonb_array_elements_text(${partialIds}::jsonb) with ordinality)`,
  )
  return made?.id ?? null
}

/** A finished partial upload: a separate object at each destination, until it is joined. */
export type PartialObject = {
  fileId: string
  bytes: number
  crc32: number
  /** The keys by Data Store id. A best-effort Data Store that is missing the object has no key. */
  keys: Readonly<Record<string, string>>
}

const KEYS = sql`(select coalesce(json_object_agg(d.data_store_id, d.key), '{}') from file_destinations d
      where d.file_id = f.id and d.status = 'transferred')`

/** The pieces of a final upload without an object, in order. */
export function readPartials(db: Db, fileIds: readonly string[]): Promise<PartialObject[]> {
  return rows<PartialObject>(
    db,
    sql`
    select f.id as "fileId", f.length_bytes as bytes, f.crc32, ${KEYS} as keys
    from jsonb_array_elements_text(${JSON.stringify(fileIds)}::jsonb) with ordinality as wanted(id, n)
    join files f on f.id = wanted.id::uuid order by wanted.n`,
  )
}

/** Returns those of the given partial uploads that this token may join, now or once their objects exist. */
export function readFinishedPartials(
  db: Db,
  { token, pipe, targets }: CreationRight,
  fileIds: readonly string[],
): Promise<(PartialObject & { isMade: boolean })[]> {
  // The Pipe's destinations may have changed since the partial uploads were created.
  const required = targets.flatMap((target) => (target.required ? [target.dataStore.id] : []))
  return rows(
    db,
    sql`
    select f.id as "fileId", f.length_bytes as bytes, f.crc32, ${KEYS} as keys, f.status in (${MADE}) as "isMade"
    from files f
    where f.id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(fileIds)}::jsonb))
      and f.pipe_id = ${pipe.id} and f.sender_id = ${token.senderId}::uuid
      and not exists (select from jsonb_array_elements_text(${JSON.stringify(required)}::jsonb) wanted
        where wanted.value::uuid not in (select d.data_store_id from file_destinations d where d.file_id = f.id))
      and f.subject is not distinct from ${token.subject} and f.concat = 'partial'
      and (f.status in ('transferring', ${MADE}) or f.status = 'uploading' and f.offset_bytes = f.length_bytes)
      and f.retired_at is null`,
  )
}

type Final = Omit<NewUpload, 'lengthBytes' | 'concat' | 'partBytes'> & {
  partialIds: readonly string[]
  concatHeader: string
  bytes: number
  crc32: number
}

type Options = { claim: Claim; nowMs: number; emitCreated: EmitCreated }

/**
 * Inserts a file that starts as `transferring`: every byte is durable, and was counted with its partial upload. From
 * then on, its pieces do not expire and cannot be joined again. False if another file has already taken one of the
 * pieces.
 */
export async function insertFinal(db: Db, upload: Final, options: Options): Promise<boolean> {
  return db.transaction(async (tx) => {
    await joinBatches(tx, [upload], options.nowMs)
    if (!(await lockPieces(tx, upload.partialIds))) return false
    await insert(tx, upload, options)
    await takePieces(tx, upload, options.nowMs)
    if (upload.isToldOfCreation) await options.emitCreated(tx, upload.fileId)
    return true
  })
}

const among = (partialIds: readonly string[]) =>
  sql`id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(partialIds)}::jsonb))`

async function lockPieces(tx: Db, partialIds: readonly string[]): Promise<boolean> {
  const free = await rows(
    tx,
    sql`
    select id from files where ${among(partialIds)} and concat = 'partial' and status in (${MADE}) and retired_at is null
    order by id for update`,
  )
  return free.length === partialIds.length
}

async function takePieces(tx: Db, { fileId, partialIds }: Final, nowMs: number): Promise<void> {
  await tx.execute(sql`
    update files set retired_at = ${new Date(nowMs).toISOString()}::timestamptz, joined_into = ${fileId}::uuid
    where ${among(partialIds)}`)
}

/** A hook decides on the file first, so nobody is joining it yet. */
const NO_CLAIM = { claim: sql`null`, leaseMs: sql`null` }

async function insert(db: Db, upload: Final, { claim, nowMs }: Options): Promise<void> {
  const places = upload.destinations.map((place, n) => ({ ...place, position: n + 1 }))
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const made = await rows(
    db,
    sql`
    with spent as (
      update tokens set files_created = files_created + 1
      where id = ${upload.tokenId}::uuid and (max_files is null or files_created < max_files) returning 1
    ), made as (
      insert into files (id, workspace_id, pipe_id, token_id, sender_id, sender_name, subject, filename, filetype,
        upload_metadata_header, upload_metadata, metadata, object, folder, declared_crc32, batch_id, status, length_bytes, offset_bytes, counted_bytes, crc32,
        concat, concat_parts, concat_header, expiry_seconds, expires_at, expires_by, created_at, last_byte_at, complete_sent_at,
        last_request_id, last_traceparent, decision, ${LEASE_COLUMNS})
      select ${upload.fileId}::uuid, ${upload.workspaceId}::uuid, ${upload.pipeId}, ${upload.tokenId}::uuid,
        ${upload.senderId}::uuid, ${upload.senderName}, ${upload.subject}, ${upload.filename}, ${upload.filetype},
        ${upload.uploadMetadataHeader}, ${JSON.stringify(upload.uploadMetadata)}::jsonb,
        ${JSON.stringify(upload.metadata)}::jsonb, ${upload.object && JSON.stringify(upload.object)}::jsonb, ${upload.folder}, ${upload.declaredCrc32}::bigint, ${upload.batch?.id ?? null}::uuid, 'transferring', ${upload.bytes}::bigint, ${upload.bytes}::bigint,
        ${upload.bytes}::bigint, ${upload.crc32}::bigint, 'final',
        (select array_agg(value::uuid order by ordinality)
          from jsonb_array_elements_text(${JSON.stringify(upload.partialIds)}::jsonb) with ordinality),
        ${upload.concatHeader}, ${upload.expirySeconds}::int, ${new Date(upload.expiresAtMs).toISOString()}::timestamptz,
        ${new Date(upload.expiresByMs).toISOString()}::timestamptz, ${now}, ${now}, ${upload.isGated ? sql`null` : now},
        ${upload.request?.id ?? null}, ${upload.request?.traceparent ?? null}, ${upload.isGated ? 'asked' : null}::text,
        ${leaseValues(upload.isGated ? NO_CLAIM : claim)}
      from spent returning id
    ), sent_to as (
      insert into file_destinations (file_id, data_store_id, bucket, key, status, position, required)
      select id, d."dataStoreId", d.bucket, d.key, 'transferring', d.position, d.required
      from made, jsonb_to_recordset(${JSON.stringify(places)}::jsonb) d("dataStoreId" uuid, bucket text, key text, position smallint, required boolean)
    ), noted as (${insertNote({ kind: 'created' }, sql`made`, nowMs)})
    select id from made`,
  )
  if (made.length === 0) throw new SluiceError('token_exhausted', 'Request a new token from your backend.')
}

/** A token's partial uploads are presumed abandoned once none of them has received bytes for this long. */
const UNJOINED_MS = hours(6)
export const RETIRED_AT_ONCE = 100

/** Retires finished partial uploads that nobody joined in time. Their objects are deleted. */
export async function retirePartials(db: Db, nowMs: number): Promise<number> {
  const now = new Date(nowMs).toISOString()
  const idleSince = new Date(nowMs - UNJOINED_MS).toISOString()
  const retired = await rows(
    db,
    sql`
    with late as (
      select id from files p where concat = 'partial' and status in (${MADE}) and retired_at is null
        and (expires_at <= ${now}::timestamptz or not exists (
          select from files s where s.concat = 'partial' and s.retired_at is null and s.token_id = p.token_id
            and coalesce(s.last_byte_at, s.created_at) > ${idleSince}::timestamptz))
      limit ${RETIRED_AT_ONCE}::int for update skip locked
    ), retired as (update files f set retired_at = ${now}::timestamptz from late where f.id = late.id returning f.id)
    update file_destinations d set abort_pending = true, abort_at = ${afterLateRequests(nowMs)} from retired where d.file_id = retired.id returning d.file_id`,
  )
  return retired.length
}
