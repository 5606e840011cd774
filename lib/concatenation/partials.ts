import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { hours } from '../platform/kernel/clock.ts'
import { joinBatches } from '../uploads/ledger/batches.ts'
import { afterLateRequests } from '../uploads/ledger/endings.ts'
import { type EmitCreated, insertOne, type NewUpload } from '../uploads/ledger/insert-upload.ts'
import type { Claim } from '../uploads/ledger/lease-terms.ts'
import type { CreationRight } from '../uploads/ledger/upload-rights.ts'

/**
 * Partial uploads: pieces of a file that are separate objects until they are joined. A piece can only be joined once.
 * Pieces that nobody joins are deleted after a while.
 */

/** A piece that is missing at a best-effort destination can still be joined at the other destinations. */
const MADE = sql`'transferred', 'partially_transferred'`

const arrayOf = (ids: readonly string[]): SQL => sql`${`{${ids.join()}}`}::uuid[]`

/**
 * The final upload that an earlier request created from these pieces. Joining can be slow and its response can get
 * lost, so a repeated request returns the same file.
 */
export async function findFinal(
  db: Db,
  { token, pipe }: CreationRight,
  wanted: { partialIds: readonly string[]; uploadMetadataHeader: string | null },
): Promise<string | null> {
  const [made] = await rows<{ id: string }>(
    db,
    sql`
    select f.id from files p join files f on f.id = p.joined_into
    where p.id = ${wanted.partialIds[0]!}::uuid and f.pipe_id = ${pipe.id} and f.sender_id = ${token.senderId}::uuid
      and f.subject is not distinct from ${token.subject} and f.retired_at is null
      and (f.status in ('transferring', ${MADE}) or f.decision = 'rejected')
      and f.upload_metadata_header is not distinct from ${wanted.uploadMetadataHeader}
      and f.concat_parts = ${arrayOf(wanted.partialIds)}`,
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
    from unnest(${arrayOf(fileIds)}) with ordinality as wanted(id, n) join files f on f.id = wanted.id order by wanted.n`,
  )
}

/** Returns those of the given partial uploads that this token may join, now or once their objects exist. */
export function readFinishedPartials(
  db: Db,
  { token, pipe, destinations }: CreationRight,
  fileIds: readonly string[],
): Promise<(PartialObject & { isMade: boolean })[]> {
  // The Pipe's destinations may have changed since the partial uploads were created.
  const required = destinations.flatMap(({ required, dataStore }) => (required ? [dataStore.id] : []))
  return rows(
    db,
    sql`
    select f.id as "fileId", f.length_bytes as bytes, f.crc32, ${KEYS} as keys, f.status in (${MADE}) as "isMade"
    from files f
    where f.id = any(${arrayOf(fileIds)})
      and f.pipe_id = ${pipe.id} and f.sender_id = ${token.senderId}::uuid
      and not exists (select from unnest(${arrayOf(required)}) wanted
        where wanted not in (select d.data_store_id from file_destinations d where d.file_id = f.id))
      and f.subject is not distinct from ${token.subject} and f.concat = 'partial'
      and (f.status in ('transferring', ${MADE}) or f.status = 'uploading' and f.offset_bytes = f.length_bytes)
      and f.retired_at is null`,
  )
}

type Final = Omit<NewUpload, 'lengthBytes' | 'partBytes' | 'concat'> & {
  partialIds: readonly string[]
  concatHeader: string
  bytes: number
  crc32: number
}

/**
 * Inserts a file that starts as `transferring`: every byte is durable, and was counted with its partial upload. From
 * then on, its pieces do not expire and cannot be joined again. False if another file has already taken one of the
 * pieces.
 */
export async function insertFinal(
  db: Db,
  upload: Final,
  { claim, nowMs, emitCreated }: { claim: Claim; nowMs: number; emitCreated: EmitCreated },
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await joinBatches(tx, [upload], nowMs)
    if (!(await lockPieces(tx, upload.partialIds))) return false
    // If a hook decides on the file first, nobody is joining it yet.
    const first = upload.isGated ? undefined : { claim, boundEnds: [] }
    await insertOne(tx, { upload: { ...upload, ...WITHOUT_BYTES }, quota: COUNTED_BEFORE, nowMs, first })
    await fill(tx, upload, nowMs)
    await takePieces(tx, upload, nowMs)
    if (upload.isToldOfCreation) await emitCreated(tx, upload.fileId)
    return true
  })
}

/** The types of the pieces were not checked, so the type of the file is not either. */
const WITHOUT_BYTES = {
  lengthBytes: null,
  partBytes: null,
  concat: null,
  verifyContent: null,
  sha256State: null,
  linkId: null,
}
const COUNTED_BEFORE = { limitBytes: 0 }

const among = (partialIds: readonly string[]) => sql`id = any(${arrayOf(partialIds)})`

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

/** Gives the new file the bytes of its pieces. */
async function fill(tx: Db, { fileId, partialIds, ...upload }: Final, nowMs: number): Promise<void> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  await tx.execute(sql`
    with filled as (
      update files set status = 'transferring', concat = 'final', concat_header = ${upload.concatHeader},
        concat_parts = ${arrayOf(partialIds)}, length_bytes = ${upload.bytes}::bigint, offset_bytes = ${upload.bytes}::bigint,
        counted_bytes = ${upload.bytes}::bigint, crc32 = ${upload.crc32}::bigint, last_byte_at = ${now},
        ${upload.isGated ? sql`decision = 'asked'` : sql`complete_sent_at = ${now}`}
      where id = ${fileId}::uuid returning id
    )
    update file_destinations d set status = 'transferring' from filled where d.file_id = filled.id`)
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
