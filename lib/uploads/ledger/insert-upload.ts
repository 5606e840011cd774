import { sql } from 'drizzle-orm'
import type { FileObject, FileProtocol } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../../platform/db/in-groups.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { RequestContext } from '../../platform/kernel/request-context.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { type Quota, quotaExceeded, reserved } from '../../workspace/usage/reserve.ts'
import type { Batch } from '../rules/batch.ts'
import { joinBatches } from './batches.ts'
import { type Claim, LEASE_COLUMNS, leaseValues } from './lease-terms.ts'
import { takePlace } from './repeated-creation.ts'
import { insertNotes } from './timeline.ts'

export type NewDestination = { dataStoreId: string; bucket: string; key: string; required: boolean }

/** A new upload, before its first byte. */
export type NewUpload = {
  fileId: string
  workspaceId: string
  pipeId: string
  tokenId: string
  linkId: string | null
  /** How many uploads the token allows, and how many bytes in each. */
  maxFiles: number | null
  maxBytes: number | null
  senderId: string
  senderName: string
  subject: string | null
  protocol: FileProtocol
  filename: string
  filetype: string | null
  uploadMetadataHeader: string | null
  uploadMetadata: Record<string, string>
  metadata: Record<string, string>
  object: FileObject | null
  folder: string | null
  verifyContent: boolean | null
  declaredCrc32: number | null
  declaredSha256: string | null
  sha256State: string | null
  batch: Batch | null
  lengthBytes: number | null
  partBytes: number | null
  concat: 'partial' | null
  /** Identifies the creation, if its client can repeat it. */
  creationKey?: string | undefined
  isToldOfCreation: boolean
  /** The `before_create` hook has allowed it. */
  isAllowedByHook: boolean
  /** A `before_complete` hook decides on it. */
  isGated: boolean
  expirySeconds: number
  expiresAtMs: number
  expiresByMs: number
  /** The required destinations come first. */
  destinations: readonly NewDestination[]
  /** Captured at creation, because one insert batches uploads from several requests. */
  request: RequestContext | undefined
}

/** With a claim, the request that creates the upload immediately holds its lease, with its first parts bound. */
export type Insertion = {
  upload: NewUpload
  quota: Quota
  nowMs: number
  first?: { claim: Claim; boundEnds: readonly number[] } | undefined
}

/** Writes the files' creation events, in the transaction that creates them. */
export type EmitCreated = (tx: Db, ...fileIds: string[]) => Promise<void>

type Deps = { db: Db; emitEvents(tx: Db, ...fileIds: string[]): Promise<void>; emitCreated: EmitCreated }

const MAX_AT_ONCE = 100

/**
 * Creating an upload locks its workspace's usage row for the month until the commit. To avoid queueing for that lock,
 * one statement inserts all uploads created at the same time; if the quota is too small for all, each is inserted
 * separately. A token that limits the number of files is also locked, as are an upload link and a batch: their
 * uploads are always inserted separately.
 */
export function insertsUploads(deps: Deps): (insertion: Insertion) => Promise<void> {
  const { db, emitCreated } = deps
  const together = (work: (group: Insertion[]) => Promise<unknown[]>) =>
    inGroups(work, {
      most: MAX_AT_ONCE,
      gatherMs: GATHER_WRITES_MS,
      keyOf: ({ upload, nowMs }: Insertion) => `${upload.workspaceId} ${monthOf(nowMs)}`,
    })
  const insertTogether = together((group) => insert(db, group))
  const insertAndTell = together((group) =>
    db.transaction(async (tx) => {
      const made = await insert(tx, group)
      await emitCreated(tx, ...group.map(({ upload }) => upload.fileId))
      return made
    }),
  )
  return async (insertion) => {
    const { maxFiles, linkId, batch, concat, isToldOfCreation } = insertion.upload
    if (concat === 'partial' && maxFiles !== null) await insertPartial(db, insertion)
    else if (maxFiles !== null || linkId || batch) await insertAlone(deps, insertion)
    else if (concat === null && isToldOfCreation) await insertAndTell(insertion)
    else await insertTogether(insertion)
  }
}

/** The token's limit is checked last, so that the month's row is locked before the token's, as everywhere else. */
async function insertAlone({ db, emitEvents, emitCreated }: Deps, insertion: Insertion): Promise<void> {
  await db.transaction(async (tx) => {
    await joinBatches(tx, [insertion.upload], insertion.nowMs)
    const [made] = await insert(tx, [insertion])
    if (made!.exhausted && !(await takePlace({ db: tx, emitEvents }, insertion.upload, insertion.nowMs)))
      throw exhausted(insertion.upload)
    const { fileId, isToldOfCreation } = insertion.upload
    if (isToldOfCreation) await emitCreated(tx, fileId)
  })
}

function exhausted({ linkId }: NewUpload): SluiceError {
  const ofLink = 'This upload link has reached its limit, or has no room for a file of this size.'
  return new SluiceError('token_exhausted', linkId ? ofLink : 'Request a new token from your backend.')
}

/**
 * Partial uploads do not count as files, because the final upload does. They have a separate limit until they are
 * joined.
 */
async function insertPartial(db: Db, insertion: Insertion): Promise<void> {
  await db.transaction(async (tx) => {
    // This locks the month's row, so the check below sees all earlier partial uploads.
    await insert(tx, [insertion])
    await assertFewPartials(tx, insertion.upload, insertion.nowMs)
  })
}

/** Common clients send a file in two to eight pieces. */
const PARTIALS_PER_FILE = 8

/**
 * Limits a token's partial uploads, and their bytes, to what its files can need. A partial upload of unknown length
 * counts as the largest size that the token allows.
 */
async function assertFewPartials(
  tx: Db,
  { tokenId, maxFiles, maxBytes }: Pick<NewUpload, 'tokenId' | 'maxFiles' | 'maxBytes'>,
  nowMs: number,
): Promise<void> {
  const [open] = await rows<{ count: number; bytes: number }>(
    tx,
    sql`select count(*)::int as count, coalesce(sum(coalesce(length_bytes, ${maxBytes}::bigint, 0)), 0)::bigint as bytes
      from files where concat = 'partial' and retired_at is null and token_id = ${tokenId}::uuid
        and expires_at > ${new Date(nowMs).toISOString()}::timestamptz
        and status in ('uploading', 'transferring', 'transferred', 'partially_transferred')`,
  )
  const { count, bytes } = open!
  const mostFiles = maxFiles! * PARTIALS_PER_FILE
  const mostBytes = maxBytes === null ? Infinity : maxFiles! * maxBytes
  if (count <= mostFiles && bytes <= mostBytes) return
  const most = count > mostFiles ? mostFiles : `${mostBytes} bytes of`
  const detail = `At most ${most} partial uploads may be waiting to be joined. Join or delete some.`
  throw new SluiceError('token_exhausted', detail)
}

/** Inserts an upload in the caller's transaction, which first joins its batch and then tells of the creation. */
export async function insertOne(tx: Db, insertion: Insertion): Promise<void> {
  const [made] = await insert(tx, [insertion])
  if (made!.exhausted) throw exhausted(insertion.upload)
}

/** Inserts uploads for one workspace in the caller's transaction. Their tokens do not limit the number of files. */
export async function insertMany(
  { db: tx, emitCreated }: Pick<Deps, 'db' | 'emitCreated'>,
  uploads: readonly NewUpload[],
  { quota, nowMs }: Pick<Insertion, 'quota' | 'nowMs'>,
): Promise<void> {
  await joinBatches(tx, uploads, nowMs)
  for (let at = 0; at < uploads.length; at += MAX_AT_ONCE) {
    const group = uploads.slice(at, at + MAX_AT_ONCE)
    const insertions = group.map((upload) => ({ upload, quota, nowMs }))
    await insert(tx, insertions)
    const told = group.filter(({ isToldOfCreation }) => isToldOfCreation)
    if (told.length > 0) await emitCreated(tx, ...told.map(({ fileId }) => fileId))
  }
}

/**
 * Inserts the files and destinations, reserves quota and updates the token's count in one statement, for uploads in
 * one workspace and month.
 */
async function insert(db: Db, group: Insertion[]): Promise<{ exhausted: boolean }[]> {
  const { upload, quota, nowMs } = group[0]!
  const bytes = group.reduce((sum, { upload: { lengthBytes } }) => sum + (lengthBytes ?? 0), 0)
  const allowed = group.some(({ upload: { isAllowedByHook } }) => isAllowedByHook) ? ALLOWED : sql``
  const keyed = group.some(({ upload: { creationKey } }) => creationKey) ? KEYED : sql``
  const ofLink = upload.linkId === null ? NO_LINK : countedByLink(upload.linkId, nowMs)
  const made = await rows<{ exhausted: boolean }>(
    db,
    sql`
    with wanted as (select * from json_to_recordset(${JSON.stringify(group.map(recordOf))}::json) as wanted(${WANTED})),
    ${reserved(upload.workspaceId, bytes, quota, nowMs)},
    made as (
      insert into files (${NAMES}, reserved_bytes, reserved_month, ${LEASE_COLUMNS})
      select ${NAMES}, coalesce(length_bytes, 0), ${monthOf(nowMs)}, ${leaseValues({ claim: sql`claim`, leaseMs: sql`lease_ms` })}
      from wanted, reserved returning id
    ), sent_to as (
      insert into file_destinations (file_id, data_store_id, bucket, key, position, required)
      select id, d."dataStoreId", d.bucket, d.key, d.position, d.required from made join wanted using (id),
        json_to_recordset(destinations) d("dataStoreId" uuid, bucket text, key text, position smallint, required boolean)
    )${allowed}${keyed}, noted as (
      ${insertNotes({ id: sql`note_id`, kind: 'created', at: sql`created_at` }, sql`made join wanted using (id)`)}
    ), spent as (
      update tokens t set files_created = t.files_created + spent.files
      from (select token_id, count(*) as files from made join wanted using (id) where concat is null group by 1) spent
      where t.id = spent.token_id returning t.files_created > t.max_files as over
    )${ofLink.counted}
    select exists (select from spent where over)${ofLink.isOver} as exhausted from made`,
  )
  if (made.length === 0) throw await quotaExceeded(db, upload.workspaceId, { ...quota, bytes }, nowMs)
  return made
}

const ALLOWED = sql`, allowed as (
  insert into file_decisions (file_id, hook, state, decided_by, decided_at)
  select id, 'before_create', 'allowed', 'receiver', created_at from made join wanted using (id) where is_allowed
)`
const KEYED = sql`, keyed as (
  insert into creation_keys (id, file_id, created_at)
  select creation_key, id, created_at from made join wanted using (id) where creation_key is not null
)`
const NO_LINK = { counted: sql``, isOver: sql`` }

/** All tokens of an upload link share its limits. The link may have been closed after the token was issued. */
function countedByLink(linkId: string, nowMs: number) {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return {
    counted: sql`, counted_by_link as (
      update upload_links l set files_created = l.files_created + 1, bytes_created = l.bytes_created + wanted.length_bytes
      from made join wanted using (id) where l.id = ${linkId}::uuid
      returning l.closed_at is not null or coalesce(l.expires_at <= ${now}, false)
        or coalesce(l.files_created > l.max_files, false) or coalesce(l.bytes_created > l.max_bytes, false) as over
    )`,
    isOver: sql` or exists (select from counted_by_link where over)`,
  }
}

/** The columns of `files` that an upload starts with. */
const COLUMNS = `id uuid, workspace_id uuid, pipe_id text, token_id uuid, sender_id uuid, sender_name text, subject text,
  protocol text, filename text, filetype text, upload_metadata_header text, upload_metadata jsonb, metadata jsonb,
  object jsonb, folder text, verify_content boolean, declared_crc32 bigint, declared_sha256 text, sha256_state text, batch_id uuid, length_bytes bigint,
  part_bytes bigint, concat text, expiry_seconds int, expires_at timestamptz, expires_by timestamptz,
  created_at timestamptz, bound_ends bigint[], last_request_id text, last_traceparent text, decision text`
const NAMES = sql.raw(COLUMNS.replace(/ \S+(?=,|$)/g, ''))
const WANTED = sql.raw(
  `${COLUMNS}, claim text, lease_ms int, note_id uuid, destinations json, is_allowed boolean, creation_key uuid`,
)

function recordOf({ upload, nowMs, first }: Insertion) {
  return {
    id: upload.fileId,
    workspace_id: upload.workspaceId,
    pipe_id: upload.pipeId,
    token_id: upload.tokenId,
    sender_id: upload.senderId,
    sender_name: upload.senderName,
    subject: upload.subject,
    protocol: upload.protocol,
    filename: upload.filename,
    filetype: upload.filetype,
    upload_metadata_header: upload.uploadMetadataHeader,
    upload_metadata: upload.uploadMetadata,
    metadata: upload.metadata,
    object: upload.object,
    folder: upload.folder,
    verify_content: upload.verifyContent,
    declared_crc32: upload.declaredCrc32,
    declared_sha256: upload.declaredSha256,
    sha256_state: upload.sha256State,
    batch_id: upload.batch?.id ?? null,
    length_bytes: upload.lengthBytes,
    part_bytes: upload.partBytes,
    concat: upload.concat,
    expiry_seconds: upload.expirySeconds,
    expires_at: new Date(upload.expiresAtMs),
    expires_by: new Date(upload.expiresByMs),
    created_at: new Date(nowMs),
    claim: first?.claim.claim ?? null,
    lease_ms: first?.claim.leaseMs ?? null,
    bound_ends: first?.boundEnds ?? [],
    note_id: uuidv7(nowMs),
    destinations: upload.destinations.map((one, n) => ({ ...one, position: n + 1 })),
    last_request_id: upload.request?.id ?? null,
    last_traceparent: upload.request?.traceparent ?? null,
    decision: upload.isGated ? 'due' : null,
    is_allowed: upload.isAllowedByHook,
    creation_key: upload.creationKey ?? null,
  }
}
