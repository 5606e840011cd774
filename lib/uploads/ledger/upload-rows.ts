import type {
  FileObject,
  FileProtocol,
  FileStatus,
  Hook,
  ObjectSettings,
  PipeObject,
  SenderSource,
} from '#drizzle/schema/index.ts'
import type { FileDecision } from '../rules/decision.ts'
import type { Bound } from '../rules/part-numbers.ts'

/** A token, its Pipe and an upload, as one query reads them. */

export type UploadToken = {
  id: string
  workspaceId: string
  senderId: string
  senderName: string
  subject: string | null
  maxBytes: number | null
  maxFiles: number | null
  allowedTypes: string[]
  keyPrefix: string
  metadata: Record<string, string>
  object: ObjectSettings | null
  /** The batch its files belong to. */
  batch: string | null
  /** The upload link that the token was issued for. */
  linkId: string | null
  /** The only ways in that its Sender may use. Null for all of them. */
  sources: SenderSource[] | null
}

export type PipeRow = {
  id: string
  sourceHttp: boolean
  sourceUrl: boolean
  sourceSftp: boolean
  sourceFtps: boolean
  sourceFtp: boolean
  keyTemplate: string
  maxFileBytes: number | null
  allowedTypes: string[]
  allowedOrigins: string[]
  uploadExpirySeconds: number
  object: PipeObject | null
  verifyContent: boolean
  computeSha256: boolean
  /** The Pipe has an active webhook. */
  hasWebhooks: boolean
  /** An output subscribes to `file.created` events. */
  isToldOfCreation: boolean
  /** Its enabled decision hooks. */
  hooks: Hook[]
}

export type UploadRow = {
  id: string
  workspaceId: string
  pipeId: string
  protocol: FileProtocol
  status: FileStatus
  lengthBytes: number | null
  /** True if the length was declared after every byte had arrived. */
  lengthCameLast: boolean | null
  offsetBytes: number
  crc32: number
  partBytes: number | null
  concat: 'partial' | 'final' | null
  concatHeader: string | null
  /** The ids of its lanes, in order; null if it has only one writer. */
  lanes: string[] | null
  /** For a lane: its file. */
  laneOf: string | null
  filename: string
  filetype: string | null
  object: FileObject | null
  /** True or null. */
  verifyContent: boolean | null
  /** The checksum of the entire file, as declared by the client. */
  declaredCrc32: number | null
  declaredSha256: string | null
  /** The sealed state of its SHA-256. Null if that is not computed. */
  sha256State: string | null
  uploadMetadataHeader: string | null
  expiresAtMs: number
  retired: boolean
  /** Another request is writing to the upload now. */
  leased: boolean
  /** The next request counts as a resume. */
  interrupted: boolean
  /** The state of its `before_complete` hook; null if there is none. */
  decision: FileDecision | null
  leaseFence: number
  /** The bindings of its part numbers. */
  bound: Bound
}
