import { z } from 'zod'
import {
  DECIDED_BY,
  DECISION_STATES,
  DESTINATION_REASONS,
  FILE_PROTOCOLS,
  FILE_STATUSES,
  type FileObject,
  type fileDecisions,
  type fileDestinations,
  type files,
} from '#drizzle/schema/index.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { toAnswer } from '../../platform/kernel/parse-input.ts'
import { fileObjectAnswer } from '../../workspace/pipes/object-settings.ts'

const pairs = z.record(z.string(), z.string())
const instant = z.iso.datetime()

const destinationAnswer = z.strictObject({
  destinationId: z.uuid(),
  status: z.enum(['pending', 'transferring', 'transferred', 'failed']),
  bucket: z.string(),
  key: z.string(),
  etag: z.string().nullable(),
  /**
   * The settings of the object at this destination: the file's own and those that the Data Store adds. Absent if there
   * are none, or if there is no object.
   */
  object: fileObjectAnswer.optional(),
  /** False for a best-effort destination, which neither delays nor fails an upload. */
  required: z.boolean(),
  /** Why it failed. `unknown` means that the object may or may not exist. */
  reason: z.enum(DESTINATION_REASONS).optional(),
  /** A description of the reason. */
  reasonDetail: z.string().optional(),
  /** When the next attempt to copy the object to this destination is due. Absent if no attempt is planned. */
  repairAt: instant.optional(),
  /** Set if the bucket's response was lost, and a later response showed that the object exists. */
  certainty: z.literal('inferred').optional(),
})

/**
 * The decision of the `before_complete` hook. `due` means that Sluice will ask the hook after the last byte, `asked`
 * that the hook has not answered yet.
 */
const decisionAnswer = z.strictObject({
  state: z.enum(DECISION_STATES),
  /** Why it was rejected. */
  reason: z.string().nullable(),
  /** The result returned to the uploader. */
  result: z.unknown(),
  decidedBy: z.enum(DECIDED_BY).nullable(),
  decidedAt: instant.nullable(),
  /** The file is rejected if there is no decision by then. */
  deferredUntil: instant.nullable(),
})

export const fileAnswer = z.strictObject({
  id: z.uuid(),
  pipeId: z.string(),
  filename: z.string(),
  filetype: z.string().nullable(),
  /** Null until the client has declared the size. */
  size: z.int().nullable(),
  /** The confirmed offset. */
  offset: z.int(),
  status: z.enum(FILE_STATUSES),
  failureReason: z.string().nullable(),
  /** Null for a file without a hook. */
  decision: decisionAnswer.nullable(),
  /** The Sender's name when the file was created. */
  sender: z.string(),
  senderId: z.uuid().nullable(),
  subject: z.string().nullable(),
  /** The protocol that the upload was created with. It can only be continued with the same protocol. */
  protocol: z.enum(FILE_PROTOCOLS),
  /** The checksum of the entire object, once it is in the bucket. */
  checksum: z.string().nullable(),
  /** The checksum declared by the client. The file fails if its actual checksum differs. */
  declaredChecksum: z.string().nullable(),
  /** The SHA-256 of the entire object, in hexadecimal, if its Pipe computes it. */
  sha256: z.string().nullable(),
  /** The SHA-256 declared by the client. The file fails if its actual SHA-256 differs. */
  declaredSha256: z.string().nullable(),
  metadata: pairs,
  uploadMetadata: pairs,
  /** The headers and tags stored with the object, from the Pipe and the token. */
  object: fileObjectAnswer.nullable(),
  /** The folder sent by the client, if the keys of its Pipe contain {path}. */
  folder: z.string().nullable(),
  /** The batch it belongs to. */
  batch: z.strictObject({ id: z.uuid(), name: z.string() }).nullable(),
  /** The actual type of its first bytes, if its Pipe verifies the content. */
  foundType: z.string().nullable(),
  destinations: z.array(destinationAnswer),
  resumeCount: z.int(),
  savedBytes: z.int(),
  createdAt: instant,
  /** When the latest confirmed byte arrived. */
  lastByteAt: instant.nullable(),
  expiresAt: instant,
  finishedAt: instant.nullable(),
})
export type File = z.output<typeof fileAnswer>

const timelineEntry = z.strictObject({
  at: instant,
  /** `token_issued`, `created`, an event in the upload's history, or `webhook_attempt`. */
  kind: z.string(),
  detail: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])),
})
export type TimelineEntry = z.output<typeof timelineEntry>

export const fileWithTimelineAnswer = fileAnswer.extend({ timeline: z.array(timelineEntry) })
export type FileWithTimeline = z.output<typeof fileWithTimelineAnswer>

type Destination = Pick<
  typeof fileDestinations.$inferSelect,
  | 'dataStoreId'
  | 'status'
  | 'bucket'
  | 'key'
  | 'etag'
  | 'storage'
  | 'certainty'
  | 'position'
  | 'required'
  | 'reason'
  | 'reasonDetail'
  | 'repairAt'
>

const WAITING_MS = minutes(5)

/**
 * A file's status as users see it: an upload that has received no bytes for five minutes is waiting, and a file that its
 * hook holds back or has rejected has not simply stopped or failed.
 */
export function shownStatus({ status, lastByteAt, createdAt, decision }: File, nowMs: number): ShownStatus {
  if (status === 'uploading' && Date.parse(lastByteAt ?? createdAt) < nowMs - WAITING_MS) return 'waiting'
  if (status === 'transferring' && decision && isAwaited(decision)) return 'awaiting_decision'
  return status === 'failed' && decision?.state === 'rejected' ? 'rejected' : status
}

/** Whether a file's bytes are complete, and only its decision is missing. */
export const isAwaited = ({ state }: NonNullable<File['decision']>): boolean =>
  state === 'asked' || state === 'deferred'
type ShownStatus = File['status'] | 'waiting' | 'awaiting_decision' | 'rejected'

type Decision = typeof fileDecisions.$inferSelect

export function toFile(
  row: typeof files.$inferSelect,
  destinations: Destination[],
  decision: Decision | undefined,
  batchName: string | undefined,
): File {
  // The checksum is unknown if an object was only found in the bucket, because Sluice has not seen all its bytes.
  const hasObject = row.status === 'transferred' || row.status === 'partially_transferred'
  const known = hasObject && destinations.every(({ certainty }) => certainty !== 'found')
  return toAnswer(fileAnswer, {
    ...row,
    size: row.lengthBytes,
    offset: row.offsetBytes,
    decision: row.decision && toDecision(row.decision, decision),
    sender: row.senderName,
    checksum: known ? checksumOf(row.crc32) : null,
    declaredChecksum: row.declaredCrc32 === null ? null : checksumOf(row.declaredCrc32),
    sha256: known && row.sha256Bytes === row.offsetBytes ? row.sha256 : null,
    batch: row.batchId === null ? null : { id: row.batchId, name: batchName ?? '' },
    destinations: destinations
      .toSorted((a, b) => a.position - b.position)
      .map((one) => toDestination(one, row.object)),
  })
}

const checksumOf = (crc32: number) => `crc32:${crc32.toString(16).padStart(8, '0')}`

function toDecision(
  state: NonNullable<File['decision']>['state'],
  decision: Decision | undefined,
): File['decision'] {
  return {
    state,
    reason: decision?.reason ?? null,
    result: decision?.result ?? null,
    decidedBy: decision?.decidedBy ?? null,
    decidedAt: decision?.decidedAt.toISOString() ?? null,
    deferredUntil: decision?.deferredUntil?.toISOString() ?? null,
  }
}

function toDestination(
  { dataStoreId, status, bucket, key, etag, ...of }: Destination,
  ofFile: FileObject | null,
): File['destinations'][number] {
  // If an object was only found after a database restore, its settings are unknown.
  const isKnown = status === 'transferred' && of.certainty !== 'found'
  const object = isKnown && (ofFile || of.storage) ? { ...ofFile, ...of.storage } : undefined
  const reason = of.certainty === 'unknown' ? of.certainty : of.reason
  return {
    destinationId: dataStoreId,
    status,
    bucket,
    key,
    etag,
    ...(object && { object }),
    required: of.required,
    ...(reason && { reason }),
    ...(of.reasonDetail && { reasonDetail: of.reasonDetail }),
    ...(of.repairAt && { repairAt: of.repairAt.toISOString() }),
    ...(of.certainty === 'inferred' && { certainty: of.certainty }),
  }
}

/** Describes why a file failed. Most failure reasons are already descriptions. */
export function explainFailure(reason: string): string {
  return CODES[reason] ?? reason
}

const CODES: Record<string, string> = {
  interrupted: 'The upload was interrupted: its only request ended before the last byte arrived.',
  source_changed: 'The file at its URL has changed since the import started. Import it again.',
  digest_mismatch: 'The bytes at its URL do not match the requested SHA-256.',
  checksum_mismatch:
    'The bytes received do not match the checksum declared by the client, so they were corrupted in transit. No object was created.',
  type_mismatch: 'Its content does not match its declared type. No bytes were sent to a bucket.',
  rejected: 'Its decision hook rejected it, so no object was created.',
}
