import { sql } from 'drizzle-orm'
import {
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  smallint,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import { workspaces } from './accounts.ts'
import { belongsTo, bytes, createdAt, id, instant } from './columns.ts'
import type { ObjectSettings } from './pipes.ts'

/**
 * The transitions between statuses, and the functions that make them:
 *
 * - uploading → transferring: `advance`, with the last byte; `claimTransferring`, if the length was declared later
 * - uploading → transferred: `recordWhole`, for a file stored by PutObject; `recordFound`, if its object was found
 * - transferring → transferred: `recordTransferred`
 * - transferring → partially_transferred: `recordTransferred`, if a best-effort destination has failed
 * - partially_transferred → transferred: `recordCopied`, once no destination is missing the object
 * - uploading → expired: `expireUploads`
 * - uploading → canceled: `cancelUpload`, `cancelUploadsOfPipe`, `takeBackUpload`
 * - uploading or transferring → failed: `fail` in look-up-object
 * - uploading → failed: `failInterrupted`, and an append past the declared length
 * - (new) → transferring: `insertFinal`, for a file joined from partial uploads
 */
export const FILE_STATUSES = [
  'uploading',
  'transferring',
  'transferred',
  'partially_transferred',
  'failed',
  'expired',
  'canceled',
] as const
export type FileStatus = (typeof FILE_STATUSES)[number]
/**
 * In this order: TUS, the draft Resumable Uploads for HTTP, a single plain request, an import from a URL, SFTP, FTP over TLS, and
 * unencrypted FTP.
 */
export const FILE_PROTOCOLS = ['tus', 'resumable-http', 'http', 'url', 'sftp', 'ftps', 'ftp'] as const
export type FileProtocol = (typeof FILE_PROTOCOLS)[number]
/**
 * Why a destination has no object. `fell_behind`: it lagged behind the required ones for too long or by too many
 * bytes; `rejected`: the bucket refused it; `unavailable`: the bucket did not respond, or its response was
 * inconclusive; `unknown`: it is not known whether the bucket has the object; `file_ended`: the file ended without an
 * object.
 */
export const DESTINATION_REASONS = [
  'fell_behind',
  'rejected',
  'unavailable',
  'unknown',
  'file_ended',
] as const
export type DestinationReason = (typeof DESTINATION_REASONS)[number]
/**
 * `due`: bytes are still missing, and the hook will be asked after the last one; `asked`: every byte is durable, but
 * the hook has not answered yet; `deferred`: an API call decides; `allowed`: the object may be created; `rejected`: the
 * file has failed.
 */
export const DECISION_STATES = ['due', 'asked', 'deferred', 'allowed', 'rejected'] as const
export type DecisionState = (typeof DECISION_STATES)[number]
export type DestinationStatus = 'pending' | 'transferring' | 'transferred' | 'failed'

/** The object settings of one file, with all placeholders filled in, and its complete Content-Disposition. */
export type FileObject = Omit<ObjectSettings, 'contentDisposition'> & { contentDisposition?: string }

/** How a bucket stores an object. */
export type ObjectStorage = Pick<ObjectSettings, 'storageClass' | 'encryption'>

/**
 * The creations whose clients can repeat them, for a day. The id is derived from the Idempotency-Key and from all that
 * identifies the uploader.
 */
export const creationKeys = pgTable(
  'creation_keys',
  { id: uuid().primaryKey(), fileId: uuid().notNull(), createdAt: createdAt() },
  (t) => [index().on(t.createdAt)],
)

/**
 * A file is also its upload: the row contains what the customer sees, the confirmed offset and the lease of the single
 * writer. The ids of the Pipe, token and Sender are not foreign keys, because the record outlives them.
 */
export const files = pgTable(
  'files',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    pipeId: text().notNull(),
    /**
     * The token that created the upload, and the tokens that continued it before they expired. All of them stay valid
     * for this upload.
     */
    tokenId: uuid(),
    continuedBy: uuid().array().notNull().default([]),
    senderId: uuid(),
    senderName: text().notNull(),
    subject: text(),
    /** The protocol that created the upload, which is the only one that can continue it. */
    protocol: text({ enum: FILE_PROTOCOLS }).notNull().default('tus'),
    filename: text().notNull(),
    filetype: text(),
    /** The Upload-Metadata header as sent. */
    uploadMetadataHeader: text(),
    /** Metadata from the client, in addition to filename and filetype. */
    uploadMetadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** Metadata that the customer's backend set in the token. */
    metadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** The object settings, fixed at creation. Null if the Pipe sets nothing. */
    object: jsonb().$type<FileObject>(),
    /** The client's folder, sanitized, if the Pipe's keys contain {path}. */
    folder: text(),
    batchId: uuid(),
    /** True if the first bytes must match the declared type. Until they do, nothing is sent to a bucket. */
    verifyContent: boolean(),
    /** The detected media type of the first bytes. */
    foundType: text(),
    /** The checksum of the entire file, as declared by the client. */
    declaredCrc32: bytes(),
    declaredSha256: text(),
    status: text({ enum: FILE_STATUSES }).notNull().default('uploading'),
    failureReason: text(),
    /** Null until a deferred length is known. */
    lengthBytes: bytes(),
    /**
     * True if the length was declared after every byte had arrived, so that the client already knew the final offset.
     */
    lengthCameLast: boolean(),
    /** The confirmed offset: durable bytes from the start, without gaps. It never decreases. */
    offsetBytes: bytes().notNull().default(0),
    /** Running CRC32 of the confirmed bytes. */
    crc32: bytes().notNull().default(0),
    /**
     * Running SHA-256 of the first `sha256Bytes` bytes, if the Pipe computes it, and the sealed state with which it
     * continues; an empty state is that of no bytes. Both are only valid if these are all confirmed bytes: nodes of the
     * previous version move the offset without them.
     */
    sha256: text(),
    sha256Bytes: bytes().notNull().default(0),
    sha256State: text(),
    concat: text({ enum: ['partial', 'final'] }),
    /** For a final upload: its partial uploads, in order. */
    concatParts: uuid().array(),
    /** For a final upload: the Upload-Concat header as sent. */
    concatHeader: text(),
    /**
     * For a partial upload: the final upload it was joined into. Its own address still reports that every byte has
     * arrived.
     */
    joinedInto: uuid(),
    /**
     * The lanes of a file that is sent over several connections, in order. A lane is a contiguous range of the file's
     * bytes with a row of its own: its writer, offset, part numbers and tail. The file has everything else.
     */
    lanes: uuid().array(),
    /** For a lane: its file, and where it starts in the file. */
    laneOf: uuid(),
    firstByte: bytes(),
    /** This upload's part size, fixed once the length or the first part is known. */
    partBytes: bytes(),
    /** The number of the last recorded part, and where it ends. */
    recordedParts: integer().notNull().default(0),
    recordedBytes: bytes().notNull().default(0),
    /**
     * The offsets at which the parts after the last recorded one end. Their numbers are already bound to these bytes,
     * and the parts may be in flight.
     */
    boundEnds: bytes().array().notNull().default([]),
    /**
     * The last writer's claim, which holds the lease while `leaseUntil` is set. Every write to the ledger checks this
     * claim.
     */
    leaseHolder: text(),
    /** Increases each time the lease is taken or revoked. */
    leaseFence: integer().notNull().default(0),
    leaseUntil: instant(),
    /**
     * How many of the confirmed bytes are included in the month's usage: all of them, except while a request is
     * writing.
     */
    countedBytes: bytes().notNull().default(0),
    /** Bytes of quota that are still reserved, and the month ('2026-11') in which they are reserved. */
    reservedBytes: bytes().notNull().default(0),
    reservedMonth: text(),
    completeSentAt: instant(),
    completeAttempts: integer().notNull().default(0),
    /**
     * True if there is certainly no object: after all bytes had arrived, no Complete was sent, or the bucket refused
     * every Complete.
     */
    completeRefused: boolean().notNull().default(false),
    /** The state of the `before_complete` hook. Null for a file without a hook. */
    decision: text({ enum: DECISION_STATES }),
    /**
     * True if the next PATCH counts as a resume, because the last request was interrupted or the client requested the
     * offset. An unreleased lease has the same effect.
     */
    interrupted: boolean().notNull().default(false),
    resumeCount: integer().notNull().default(0),
    /** Bytes that did not have to be sent again, because the upload was resumed. */
    savedBytes: bytes().notNull().default(0),
    /** Set when a client sends DELETE for a finished upload, which retires its address but keeps the record. */
    retiredAt: instant(),
    /**
     * The id of the last request that wrote to the upload, passed on to everything that results from it, such as
     * webhooks.
     */
    lastRequestId: text(),
    lastTraceparent: text(),
    firstByteAt: instant(),
    lastByteAt: instant(),
    expirySeconds: integer().notNull(),
    expiresAt: instant().notNull(),
    /** The latest time at which the upload expires, however often bytes arrive. */
    expiresBy: instant().notNull().default(sql`now() + interval '30 days'`),
    finishedAt: instant(),
    /**
     * Set once the customer has erased the file. The row is deleted once its parts have been cleared from the bucket.
     */
    erasedAt: instant(),
    createdAt: createdAt(),
  },
  (t) => [
    index('files_by_workspace').on(t.workspaceId, t.id),
    index('files_by_workspace_status').on(t.workspaceId, t.status, t.id),
    index('files_by_pipe').on(t.pipeId, t.id),
    index('files_by_pipe_status').on(t.pipeId, t.status, t.id),
    index('files_by_sender').on(t.senderId, t.id),
    index('files_open').on(t.expiresAt).where(sql`${t.status} = 'uploading'`),
    index('files_to_complete')
      .on(t.createdAt)
      .where(
        sql`${t.status} = 'transferring' or ${t.status} = 'uploading' and ${t.offsetBytes} = ${t.lengthBytes}`,
      ),
    index('files_erased').on(t.erasedAt).where(sql`${t.erasedAt} is not null`),
    index('files_partials').on(t.expiresAt).where(sql`${t.concat} = 'partial' and ${t.retiredAt} is null`),
    index('files_uncounted').on(t.id).where(sql`${t.countedBytes} < ${t.offsetBytes}`),
    index('files_by_one_request').on(t.id).where(sql`${t.status} = 'uploading' and ${t.protocol} = 'http'`),
    index('files_by_folder').on(t.workspaceId, t.folder, t.id).where(sql`${t.folder} is not null`),
    index('files_by_batch').on(t.batchId, t.id).where(sql`${t.batchId} is not null`),
    index('files_reserving').on(t.lastByteAt).where(sql`${t.reservedBytes} > 0`),
  ],
)

/** A condition on a row of `files`: it is a file, as customers see it, instead of a piece of one. */
export const IS_FILE = sql`(concat is distinct from 'partial' and lane_of is null)`

/** A place where a file's object goes. */
export const fileDestinations = pgTable(
  'file_destinations',
  {
    fileId: belongsTo(() => files.id),
    /** The Data Store's id, which is the `destinationId` in webhooks. */
    dataStoreId: uuid().notNull(),
    bucket: text().notNull(),
    key: text().notNull(),
    status: text().$type<DestinationStatus>().notNull().default('pending'),
    /** The bucket's id for the multipart upload, once there is one. */
    multipartId: text(),
    etag: text(),
    /** The settings sent to the bucket that come from the Data Store instead of the file. Null if there are none. */
    storage: jsonb().$type<ObjectStorage>(),
    /**
     * How certain it is that the object exists:
     *
     * - `answered`: the bucket confirmed the creation of the object.
     * - `confirmed`: the response was lost, and the object was looked up.
     * - `inferred`: the response was lost, and the bucket refused to create the object again.
     * - `found`: the database was restored to a state before the object existed, and the object was looked up.
     * - `unknown`: the file failed, but its object may exist.
     */
    certainty: text({ enum: ['answered', 'confirmed', 'inferred', 'found', 'unknown'] }),
    /**
     * True while leftovers of a failed upload, or of a partial upload that was joined, must be cleaned up in the
     * bucket.
     */
    abortPending: boolean().notNull().default(false),
    /**
     * When the cleanup may next be tried. Each attempt postpones this time first, so that a crash or a failing bucket
     * only causes a delay.
     */
    abortAt: instant(),
    /** Starts at 1, in the Pipe's order. */
    position: smallint().notNull().default(1),
    /** False for a best-effort destination, which gets the same bytes, but neither delays nor fails the file. */
    required: boolean().notNull().default(true),
    /** Why the destination failed: a code and a description. */
    reason: text().$type<DestinationReason>(),
    reasonDetail: text(),
    /** When the next attempt to copy the object from another destination is due; null if there will be none. */
    repairAt: instant(),
    repairAttempts: smallint(),
    /** The claim of the worker that is copying, and when the claim expires unless it is renewed. */
    repairClaim: text(),
    repairUntil: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.fileId, t.dataStoreId] }),
    index().on(t.dataStoreId),
    index('file_destinations_to_abort').on(t.fileId).where(sql`${t.abortPending}`),
    index('file_destinations_repairs').on(t.dataStoreId, t.repairAt).where(sql`${t.repairAt} is not null`),
    index('file_destinations_missing')
      .on(t.dataStoreId, t.fileId)
      .where(sql`${t.repairAt} is not null or ${t.repairAttempts} is not null`),
  ],
)

/** A file's history, shown on the file page: created, first byte, request, resume, part, completed, failed … */
export const fileTimeline = pgTable(
  'file_timeline',
  {
    id: id(),
    fileId: belongsTo(() => files.id),
    kind: text().notNull(),
    detail: jsonb().$type<Record<string, string | number | boolean | null>>().notNull().default({}),
    at: instant().notNull(),
  },
  (t) => [index().on(t.fileId, t.id)],
)
