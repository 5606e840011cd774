import { type SQL, sql } from 'drizzle-orm'
import type { DestinationStatus, FileProtocol } from '#drizzle/schema/index.ts'
import { hasActiveOutput, isToldOfCreation } from '../../events/outputs-of.ts'
import { isSuspended, workspaceSuspended } from '../../identity/suspension.ts'
import { type Db, fixed, rows } from '../../platform/db/database.ts'
import { GATHER_WRITES_MS, inGroups } from '../../platform/db/in-groups.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import { span } from '../../platform/tracing/span.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'
import { PIPE_DESTINATIONS } from '../../workspace/pipes/destinations.ts'
import { ALLOWED_SOURCES, assertMayUse, mayUsePipe, WITH_GROUP } from '../../workspace/senders/limits.ts'
import { hasTooManyRefused, tooManyRefused } from '../../workspace/tokens/refused-creations.ts'
import {
  ASKED_COLUMNS,
  askedOf,
  type FirstLease,
  firstColumn,
  firstLeases,
  mayTakeFirst,
  type WholeRequest,
} from './first-lease.ts'
import { expiryOf, fileOfLane, offsetOf } from './lanes.ts'
import { isLeased, wasInterrupted } from './lease-terms.ts'
import { hashStateOf } from './offsets.ts'
import { boundOf } from './part-rows.ts'
import type { PipeRow, UploadRow, UploadToken } from './upload-rows.ts'

type Validity = {
  tokenRevoked: boolean
  senderRevoked: boolean
  tokenExpired: boolean
  suspended: boolean
  /** The Sender may not use the Pipe. */
  pipeBarred: boolean
}
type Common = { token: UploadToken; pipe: PipeRow }
/** A destination of a Pipe. The required ones come first, then the best-effort ones, each group in the Pipe's order. */
export type PipeDestination = { dataStore: SealedDataStore; required: boolean }
/** A destination of one file. */
export type FileDestination = PipeDestination & {
  key: string
  status: DestinationStatus
  multipartId: string | null
}
export type CreationRight = Common & { destinations: readonly PipeDestination[] }
/** `upload` is the state from before the lease was taken. */
export type UploadRight = Common & {
  destinations: readonly FileDestination[]
  suspended: boolean
  upload: UploadRow
  first?: FirstLease | undefined
}

/**
 * Checks what an upload token may do, and reads everything that the request needs in the same query. A token may
 * create uploads until it expires. It may continue an upload that it created, or continued before it expired, until
 * that upload ends.
 */
export type UploadRights = {
  /** Throws unless this token may create an upload on this Pipe, using this protocol. */
  toCreate(secret: string, pipeId: string, protocol: FileProtocol): Promise<CreationRight>
  /**
   * Throws unless this token may continue this upload; someone else's upload is reported as not found. With `whole`,
   * also takes the lease if nobody has ever held it.
   */
  toContinue(
    secret: string,
    at: { pipeId: string; fileId: string },
    whole?: WholeRequest | undefined,
  ): Promise<UploadRight>
}

const MAX_AT_ONCE = 100

/** Simultaneous requests share one statement. */
export function openUploadRights({ db, clock }: { db: Db; clock: Clock }): UploadRights {
  const assertNotRevoked = <Row extends Validity>(row: Row | undefined): Row => {
    if (!row)
      throw new SluiceError(
        'token_invalid',
        'There is no such upload token. Request a new one from your backend.',
      )
    if (row.tokenRevoked || row.senderRevoked)
      throw new SluiceError(
        'token_revoked',
        'This upload token was revoked. Request a new one from your backend.',
      )
    return row
  }
  const findCreation = inGroups((hashes: string[]) => findCreations(db, hashes, clock.now()), {
    most: MAX_AT_ONCE,
  })
  const findUpload = inGroups((asked: AskedUpload[]) => findUploads(db, asked, clock.now()), {
    most: MAX_AT_ONCE,
  })
  const takeUpload = inGroups((asked: AskedWhole[]) => takeUploads(db, asked, clock.now()), {
    most: MAX_AT_ONCE,
    gatherMs: GATHER_WRITES_MS,
  })
  return {
    async toCreate(secret, pipeId, protocol) {
      const right = assertNotRevoked(await findCreation(hashSecret(secret)))
      assertPipe(right, pipeId)
      assertMayUse(right.token.sources, protocol)
      if (right.tokenExpired) throw expired()
      if (right.suspended) throw workspaceSuspended()
      if (right.tooManyRefused) throw tooManyRefused()
      return right
    },
    async toContinue(secret, { pipeId, fileId }, whole) {
      const asked = { hash: hashSecret(secret), file: fileId }
      const right = assertNotRevoked(
        await (whole
          ? span('lease', () => takeUpload({ ...asked, pipe: pipeId, ...askedOf(whole) }))
          : span('token', () => findUpload(asked))),
      )
      assertPipe(right, pipeId)
      const { own, sameUploader } = right
      if (!right.upload || !(own || sameUploader)) {
        if (right.tokenExpired) throw expired()
        throw new SluiceError('upload_not_found', 'There is no such upload on this Pipe.')
      }
      if (!own && right.tokenExpired) throw expired()
      assertMayUse(right.token.sources, right.upload.protocol)
      const first = whole && right.first ? { ...right.first, claim: whole.claim } : undefined
      return { ...right, upload: right.upload, first }
    },
  }
}

type FoundCreation = CreationRight & Validity & { tooManyRefused: boolean }

async function findCreations(
  db: Db,
  hashes: string[],
  nowMs: number,
): Promise<(FoundCreation | undefined)[]> {
  const found = await rows<FoundCreation & { n: number }>(
    db,
    sql`select asked.n, found.* from ${askedFor(hashes.map((hash) => ({ hash })))} cross join lateral (
      select ${common(nowMs)}, ${DESTINATIONS_OF_PIPE} as destinations, ${hasTooManyRefused(nowMs)} as "tooManyRefused"
      from tokens t join senders s on s.id = t.sender_id ${WITH_GROUP} join pipes p on p.id = t.pipe_id
      where t.token_hash = asked.hash and p.deleted_at is null limit 1) found`,
  )
  return inOrder(hashes.length, found)
}

type AskedUpload = { hash: string; file: string }
type FoundUpload = Common &
  Validity & {
    destinations: FileDestination[]
    upload: UploadRow | null
    own: boolean
    sameUploader: boolean
    first?: Omit<FirstLease, 'claim'> | null
  }

async function findUploads(
  db: Db,
  asked: AskedUpload[],
  nowMs: number,
): Promise<(FoundUpload | undefined)[]> {
  const found = await rows<FoundUpload & { n: number }>(
    db,
    sql`select asked.n, found.* from ${askedFor(asked)} cross join lateral (select ${uploadOf(nowMs)}) found`,
  )
  return inOrder(asked.length, found)
}

type AskedWhole = AskedUpload & { pipe: string } & ReturnType<typeof askedOf>

async function takeUploads(db: Db, asked: AskedWhole[], nowMs: number): Promise<(FoundUpload | undefined)[]> {
  const numbered = JSON.stringify(asked.map((one, n) => ({ n, ...one })))
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  const found = await rows<FoundUpload & { n: number }>(
    db,
    sql`with asked as (select * from json_to_recordset(${numbered}::json) as asked(n int, hash text, file uuid, ${ASKED_COLUMNS})),
    found as (select asked.n, found.* from asked cross join lateral (
      select t.id as "tokenId", f.status, ${mayTakeFirst(now)} as "mayTakeFirst", ${uploadOf(nowMs)}) found),
    ${firstLeases()}
    select found.*, ${firstColumn} from found left join first using (n)`,
  )
  return inOrder(asked.length, found)
}

/** The limit makes PostgreSQL look up each row by index, whatever row count the planner estimates. */
const uploadOf = (nowMs: number): SQL => sql`${common(nowMs)}, ${OF_UPLOAD}`

/**
 * Use this in a join with a limit, so that PostgreSQL looks up each row by index, whatever row count the planner
 * estimates.
 */
function askedFor(asked: { hash: string; file?: string }[]): SQL {
  const numbered = JSON.stringify(asked.map((one, n) => ({ n, ...one })))
  return sql`json_to_recordset(${numbered}::json) as asked(n int, hash text, file uuid)`
}

function inOrder<Row extends { n: number }>(count: number, found: Row[]): (Row | undefined)[] {
  const byNumber = new Map(found.map((row) => [row.n, row]))
  return Array.from({ length: count }, (_, n) => byNumber.get(n))
}

const common = (nowMs: number): SQL =>
  sql`t.expires_at <= ${new Date(nowMs).toISOString()}::timestamptz as "tokenExpired", ${COMMON}`

const COMMON = fixed(sql`
    t.revoked_at is not null as "tokenRevoked", s.revoked_at is not null as "senderRevoked",
    ${isSuspended(sql`t.workspace_id`)} as suspended, not ${mayUsePipe(sql`p.id`)} as "pipeBarred",
    json_build_object('id', t.id, 'workspaceId', t.workspace_id, 'senderId', s.id, 'senderName', s.name,
      'subject', t.subject, 'maxBytes', t.max_bytes, 'maxFiles', t.max_files, 'allowedTypes', t.allowed_types,
      'keyPrefix', t.key_prefix, 'metadata', t.metadata, 'object', t.object, 'batch', t.batch, 'linkId', t.link_id, 'sources', ${ALLOWED_SOURCES}) as token,
    json_build_object('id', p.id, 'sourceHttp', p.source_http, 'sourceUrl', p.source_url, 'sourceSftp', p.source_sftp, 'sourceFtps', p.source_ftps, 'sourceFtp', p.source_ftp, 'keyTemplate', p.key_template,
      'maxFileBytes', least(p.max_file_bytes, (select max_file_bytes from workspaces where id = p.workspace_id)), 'allowedTypes', p.allowed_types, 'allowedOrigins', p.allowed_origins,
      'uploadExpirySeconds', p.upload_expiry_seconds, 'object', p.object, 'verifyContent', p.verify_content, 'computeSha256', p.compute_sha256,
      'hasWebhooks', ${hasActiveOutput(sql`p.id`, sql`p.workspace_id`)},
      'isToldOfCreation', ${isToldOfCreation(sql`p.id`, sql`p.workspace_id`)},
      'hooks', array(select hook from pipe_hooks h where h.pipe_id = p.id and h.enabled)) as pipe`)

const DESTINATIONS_OF_PIPE = fixed(sql`(select json_agg(json_build_object('required', pd.required,
      'dataStore', ${sealedDataStoreColumn()}) order by pd.required desc, pd.position)
    from ${PIPE_DESTINATIONS} pd join data_stores ds on ds.id = pd.data_store_id where pd.pipe_id = p.id)`)

const DESTINATIONS_OF_FILE = fixed(sql`(select json_agg(json_build_object('required', fd.required,
      'key', fd.key, 'status', fd.status, 'multipartId', fd.multipart_id,
      'dataStore', ${sealedDataStoreColumn()}) order by fd.position)
    from file_destinations fd join data_stores ds on ds.id = fd.data_store_id where fd.file_id = ${fileOfLane(sql`f`)})`)

/** For a row `f` of `files`, as a column of type `FileDecision | null`. */
export const DECISION = sql`case when f.decision is not null then (
    select json_build_object('state', f.decision, 'reason', d.reason, 'result', d.result)
    from (select 1) one left join file_decisions d on d.file_id = f.id and d.hook = 'before_complete') end`

const UPLOAD =
  fixed(sql`case when f.id is null then null else json_build_object('id', f.id, 'workspaceId', f.workspace_id,
      'pipeId', f.pipe_id, 'protocol', f.protocol, 'status', f.status, 'lengthBytes', f.length_bytes, 'lengthCameLast', f.length_came_last, 'offsetBytes', ${offsetOf(sql`f`)}, 'crc32', f.crc32,
      'partBytes', f.part_bytes, 'concat', f.concat, 'concatHeader', f.concat_header, 'lanes', f.lanes, 'laneOf', f.lane_of, 'filename', f.filename,
      'filetype', f.filetype, 'object', f.object, 'verifyContent', f.verify_content, 'declaredCrc32', f.declared_crc32, 'declaredSha256', f.declared_sha256, 'sha256State', ${hashStateOf(sql`f`)}, 'uploadMetadataHeader', f.upload_metadata_header, 'expiresAtMs', floor(extract(epoch from ${expiryOf(sql`f`)}) * 1000)::bigint,
      'retired', f.retired_at is not null and f.joined_into is null, 'leased', ${isLeased},
      'interrupted', ${wasInterrupted}, 'decision', ${DECISION}, 'leaseFence', f.lease_fence, 'bound', ${boundOf(sql`f`)}) end as upload`)

const OF_UPLOAD = fixed(sql`${DESTINATIONS_OF_FILE} as destinations, ${UPLOAD},
        t.id = f.token_id or t.id = any(f.continued_by) as own,
        f.sender_id = t.sender_id and f.subject is not distinct from t.subject as "sameUploader"
      from tokens t join senders s on s.id = t.sender_id ${WITH_GROUP} join pipes p on p.id = t.pipe_id
      left join files f on f.id = asked.file and f.pipe_id = p.id
      where t.token_hash = asked.hash limit 1`)

function assertPipe({ pipe, pipeBarred }: Common & Validity, pipeId: string): void {
  if (pipe.id !== pipeId || pipeBarred)
    throw new SluiceError('token_invalid', 'This upload token is for another Pipe.')
}

function expired(): SluiceError {
  return new SluiceError(
    'token_expired',
    'This upload token has expired. Request a new one from your backend.',
  )
}
