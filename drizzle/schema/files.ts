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
import { belongsTo, bytea, bytes, createdAt, id, instant } from './columns.ts'
import type { ObjectSettings } from './pipes.ts'

/**
 * How a file moves from status to status, and which function moves it:
 *
 *   uploading    → transferring  advance, with the last byte; claimTransferring, if the length was declared after it
 *   uploading    → transferred   recordWhole, for a file of one PutObject; markFound, after a restore
 *   transferring → transferred   markTransferred; markFound; with several destinations recordDelivered
 *   transferring → partially_transferred   recordDelivered: a destination of best effort has failed
 *   partially_transferred → transferred   recordCopied, once no destination lacks the object
 *   uploading    → expired       expireUploads; → canceled: cancelUpload, cancelUploadsOfPipe, takeBackUpload
 *   either       → failed        `fail` of look-up-object; from uploading also failInterrupted, and an append past the length
 *   (none)       → transferring  insertFinal, for a file that is joined from partial uploads
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
/** `tus`, the draft Resumable Uploads for HTTP, one plain request, an import from a URL, and SFTP. */
export const FILE_PROTOCOLS = ['tus', 'resumable-http', 'http', 'url', 'sftp'] as const
export type FileProtocol = (typeof FILE_PROTOCOLS)[number]
/**
 * Why a destination has no object. `fell_behind`: it was slower than the required ones for longer, or by more bytes, than it may be;
 * `rejected`: the bucket refused it; `unavailable`: the bucket did not answer, or not with a decision; `unknown`: nobody can tell
 * whether it has the object; `file_ended`: the file ended without an object.
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
 * `due`: bytes are missing, and the hook is asked after the last one; `asked`: every byte is durable, and there is no answer yet;
 * `deferred`: an API call decides; `allowed`: the object may be made; `rejected`: the file has failed.
 */
export const DECISION_STATES = ['due', 'asked', 'deferred', 'allowed', 'rejected'] as const
export type DecisionState = (typeof DECISION_STATES)[number]
export type DestinationStatus = 'pending' | 'transferring' | 'transferred' | 'failed'

/** The object settings of one file, with all placeholders filled in, and its Content-Disposition in full. */
export type FileObject = Omit<ObjectSettings, 'contentDisposition'> & { contentDisposition?: string }

/**
 * A file is also its upload: the row holds what the customer sees, the confirmed offset and the lease of
 * the one writer. The Pipe, token and Sender are named but not referenced, since the record outlives them.
 */
export const files = pgTable(
  'files',
  {
    id: id(),
    workspaceId: belongsTo(() => workspaces.id),
    pipeId: text().notNull(),
    /** The token that created it; the others continued it while they were unexpired. Each stays valid for it. */
    tokenId: uuid(),
    continuedBy: uuid().array().notNull().default([]),
    senderId: uuid(),
    senderName: text().notNull(),
    subject: text(),
    /** By which it was created, and alone continues. */
    protocol: text({ enum: FILE_PROTOCOLS }).notNull().default('tus'),
    filename: text().notNull(),
    filetype: text(),
    /** The Upload-Metadata header as sent. */
    uploadMetadataHeader: text(),
    /** What the client sent beside filename and filetype. */
    uploadMetadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** What the customer's backend fixed in the token. */
    metadata: jsonb().$type<Record<string, string>>().notNull().default({}),
    /** Fixed at creation. Null if its Pipe sets nothing. */
    object: jsonb().$type<FileObject>(),
    /** The folder that the client gave, cleaned, where the Pipe has {path} in its keys. */
    folder: text(),
    batchId: uuid(),
    /** True if the first bytes must fit the declared type. Nothing is sent to a bucket before they do. */
    verifyContent: boolean(),
    /** The media type that the first bytes were found to have. */
    foundType: text(),
    /** Of the whole file, as the client declared it. */
    declaredCrc32: bytes(),
    status: text({ enum: FILE_STATUSES }).notNull().default('uploading'),
    failureReason: text(),
    /** Null until a deferred length is known. */
    lengthBytes: bytes(),
    /** The confirmed offset: durable bytes, from the first, without a gap. Never goes back. */
    offsetBytes: bytes().notNull().default(0),
    /** CRC32 over the confirmed bytes, running. */
    crc32: bytes().notNull().default(0),
    concat: text({ enum: ['partial', 'final'] }),
    /** Of a final upload: its partial uploads, in order. */
    concatParts: uuid().array(),
    /** Of a final upload: the Upload-Concat header as sent. */
    concatHeader: text(),
    /** Of a partial upload: the final one that it was joined to. Its own address still tells that every byte arrived. */
    joinedInto: uuid(),
    /** Size of a part in this upload, fixed when the length or the first part is known. */
    partBytes: bytes(),
    /** The number of the last recorded part, and where it ends. */
    recordedParts: integer().notNull().default(0),
    recordedBytes: bytes().notNull().default(0),
    /** Where the parts after it end: each of these numbers is bound to its bytes, and may be in flight. */
    boundEnds: bytes().array().notNull().default([]),
    /**
     * These three serve nodes of commit 757d55c, and go in the release after this one. Only `taken` writes the first. The
     * second is -1 for a file with several destinations, which those nodes cannot write: a trigger keeps its lease from them.
     */
    boundFence: integer(),
    sealedFence: integer(),
    reservedPartNumber: integer().notNull().default(0),
    /** The claim of the last writer, which holds the lease while `leaseUntil` is set. Every write to the ledger names it. */
    leaseHolder: text(),
    /** How often the lease was taken. */
    leaseFence: integer().notNull().default(0),
    leaseUntil: instant(),
    /** How many of the confirmed bytes the month's usage includes: all, except while a request is writing. */
    countedBytes: bytes().notNull().default(0),
    /** Bytes still reserved of the quota, and the month ('2026-11') that they are reserved in. */
    reservedBytes: bytes().notNull().default(0),
    reservedMonth: text(),
    completeSentAt: instant(),
    completeAttempts: integer().notNull().default(0),
    /** There is no object: since the bytes were complete, no Complete was sent, or the bucket refused each. */
    completeRefused: boolean().notNull().default(false),
    /** Where the `before_complete` hook stands. Null for a file that no hook decides about. */
    decision: text({ enum: DECISION_STATES }),
    /**
     * The next PATCH counts as a resume: the last request was cut, or the client asked for the offset. An unreleased lease
     * means the same.
     */
    interrupted: boolean().notNull().default(false),
    resumeCount: integer().notNull().default(0),
    /** Bytes that resuming did not have to send again. */
    savedBytes: bytes().notNull().default(0),
    /** DELETE of a finished upload retires its address and keeps the record. */
    retiredAt: instant(),
    /** The last request that wrote it: passed on to what follows from it, such as a webhook. */
    lastRequestId: text(),
    lastTraceparent: text(),
    firstByteAt: instant(),
    lastByteAt: instant(),
    expirySeconds: integer().notNull(),
    expiresAt: instant().notNull(),
    /** When it expires at the latest, however often bytes come. */
    expiresBy: instant().notNull().default(sql`now() + interval '30 days'`),
    finishedAt: instant(),
    /** Its customer erased it; the row goes when the bucket is cleared of its parts. */
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

/**
 * Where a file goes. `position` and `required` are null for a file with one destination, which is required: most files have
 * one, and their rows stay as small as they were.
 */
export const fileDestinations = pgTable(
  'file_destinations',
  {
    fileId: belongsTo(() => files.id),
    /** The destinationId of the webhook: the Data Store's id. */
    dataStoreId: uuid().notNull(),
    bucket: text().notNull(),
    key: text().notNull(),
    status: text().$type<DestinationStatus>().notNull().default('pending'),
    /** The bucket's id of the multipart upload, once there is one. */
    multipartId: text(),
    etag: text(),
    /**
     * How sure it is that the object exists:
     *
     * - `answered`: the bucket said so when the object was made.
     * - `confirmed`: the response was lost, and the object was looked up.
     * - `inferred`: the response was lost, and the bucket refused to make the object again.
     * - `found`: the database was restored from before the object was made, and the object was looked up.
     * - `unknown`: the file failed, but its object may exist.
     */
    certainty: text({ enum: ['answered', 'confirmed', 'inferred', 'found', 'unknown'] }),
    /** The bucket still has something of an upload that ended badly, or of a joined piece, to be cleared away. */
    abortPending: boolean().notNull().default(false),
    /** Not to be tried before this time. Each attempt postpones it, so that a crash or a failing bucket only delays it. */
    abortAt: instant(),
    /** From 1 on, in the order of the Pipe. */
    position: smallint(),
    /** False: best effort. It gets the same bytes and neither delays nor fails the file. */
    required: boolean(),
    /** Why it failed: a code, and words for people. */
    reason: text().$type<DestinationReason>(),
    reasonDetail: text(),
    /** When the next attempt to copy the object from another destination is due; null if there will be none. */
    repairAt: instant(),
    repairAttempts: smallint(),
    /** The claim of the worker that is copying, and until when it lasts without being renewed. */
    repairClaim: text(),
    repairUntil: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.fileId, t.dataStoreId] }),
    index().on(t.dataStoreId),
    index('file_destinations_to_abort').on(t.fileId).where(sql`${t.abortPending}`),
    index('file_destinations_repairs').on(t.dataStoreId, t.repairAt).where(sql`${t.repairAt} is not null`),
  ],
)

/** Parts that the bucket acknowledged, recorded in order only. */
export const fileParts = pgTable(
  'file_parts',
  {
    fileId: belongsTo(() => files.id),
    number: integer().notNull(),
    offsetBytes: bytes().notNull(),
    sizeBytes: bytes().notNull(),
    /** The ETag at the first destination. Null where that is best effort and has not acknowledged the part. */
    etag: text(),
    crc32: bytes().notNull(),
    /** The ETags at the other destinations, from position 2 on. */
    furtherEtags: text().array(),
  },
  (t) => [primaryKey({ columns: [t.fileId, t.number] })],
)

/** Parts of an object that is being copied to a destination that lacks it. They go when the copy is complete. */
export const repairedParts = pgTable(
  'repaired_parts',
  {
    fileId: belongsTo(() => files.id),
    dataStoreId: uuid().notNull(),
    number: integer().notNull(),
    sizeBytes: bytes().notNull(),
    etag: text().notNull(),
    crc32: bytes().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fileId, t.dataStoreId, t.number] })],
)

/** Confirmed bytes past the last part, each written once; they join the next part. */
export const uploadTails = pgTable(
  'upload_tails',
  {
    fileId: belongsTo(() => files.id),
    offsetBytes: bytes().notNull(),
    /** The data key, wrapped under ENCRYPTION_KEY. Every row has one. */
    key: text(),
    /** A nonce of 12 bytes, the ciphertext, and a tag of 16. */
    bytes: bytea().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fileId, t.offsetBytes] })],
)

/** What happened to a file, for its page: created, first byte, request, resume, part, completed, failed … */
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
