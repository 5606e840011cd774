import type { Db } from '../../platform/db/database.ts'
import { type Clock, days, hours } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { uuidFrom, uuidv7 } from '../../platform/kernel/ids.ts'
import { currentRequest } from '../../platform/kernel/request-context.ts'
import { hasFolder, renderObjectKey } from '../../workspace/pipes/key-template.ts'
import { type FileObject, objectOf } from '../../workspace/pipes/object-settings.ts'
import { type FileFacts, folderOf, MAX_FOLDER_BYTES } from '../../workspace/pipes/placeholders.ts'
import type { Quota } from '../../workspace/usage/reserve.ts'
import type { Bucket } from '../bucket-port.ts'
import { type EmitCreated, insertMany } from '../ledger/insert-upload.ts'
import type { LaneRow } from '../ledger/lanes.ts'
import { oncePerKey } from '../ledger/repeated-creation.ts'
import type { CreationRight, PipeDestination } from '../ledger/upload-rights.ts'
import type { UploadRow } from '../ledger/upload-rows.ts'
import { batchOf } from '../rules/batch.ts'
import { type Checksums, NO_CHECKSUMS } from '../rules/checksums.ts'
import { NOTHING_BOUND } from '../rules/part-numbers.ts'
import { equalPartBytes } from '../rules/part-plan.ts'
import type { UploadContext } from '../upload-context.ts'
import { type Admitted, admit } from './admit.ts'
import { createLanes } from './create-lanes.ts'
import { assertMayCreate, limitsOfDestinations, type Opening } from './may-create.ts'
import { openBucketOf } from './open-bucket-of.ts'
import { adoptUpload, type Incoming, numbersOf, openPlaces } from './open-upload.ts'
import { expiresAtMs, type Upload } from './upload.ts'

export type Created = {
  fileId: string
  expiresAtMs: number
  upload: Upload | undefined
  /** Empty if the file has one writer. */
  lanes: LaneRow[]
  /** The same request has created the file before. Nothing else is known about it. */
  isRepeated?: true
}

type Creation = Declared & { concat: 'partial' | null; lanes?: number | undefined }

/** Creates an upload. With `incoming`, also opens it for the bytes in the same request; with `lanes`, divides it. */
export async function createUpload(
  context: UploadContext,
  asking: CreationRight,
  sent: Creation,
  incoming: Incoming | undefined,
): Promise<Created> {
  const creationKey = creationKeyOf(asking, sent)
  const known = { key: creationKey, asksReceiver: asking.pipe.hooks.includes('before_create') }
  const inserted = await oncePerKey(context, known, () =>
    insertNew(context, asking, { ...sent, creationKey }, incoming),
  )
  if ('earlierId' in inserted)
    return { fileId: inserted.earlierId, expiresAtMs: 0, upload: undefined, lanes: [], isRepeated: true }
  const { right, declared, made, upload, limits, first } = inserted
  const { fileId, expiresAtMs } = made
  const { lengthBytes } = declared
  context.checkpoint('upload created')
  const destinations = right.destinations.map((one, n) => ({ ...one, key: made.destinations[n]!.key }))
  if (!first) {
    // The first bytes show whether the content may be stored, so nothing else is accepted before them. A SHA-256 cannot be
    // combined from those of ranges.
    const { verifyContent, computeSha256 } = right.pipe
    const mayDivide = lengthBytes !== null && !verifyContent && !computeSha256
    const places =
      mayDivide && sent.lanes
        ? openPlaces(context, destinations, { ...upload, filetype: declared.filetype })
        : []
    const dividing = { fileId, lengthBytes: lengthBytes ?? 0, limits, places }
    const lanes = places.length > 0 ? await createLanes(context, dividing, sent.lanes!) : []
    return { fileId, expiresAtMs, upload: undefined, lanes }
  }
  const decision = made.isGated ? ({ state: 'due', reason: null, result: null } as const) : null
  const row = { ...upload, id: fileId, filetype: declared.filetype, decision }
  const taken = { ...made, ...first }
  const opened = await adoptUpload(context, { pipe: right.pipe, upload: row, destinations }, taken, incoming!)
  return { fileId, expiresAtMs, upload: opened, lanes: [] }
}

/** Two uploaders never share a creation merely because they use the same key. */
function creationKeyOf({ token, pipe }: CreationRight, { idempotencyKey }: Declared): string | undefined {
  return idempotencyKey && uuidFrom(pipe.id, token.senderId, token.subject, idempotencyKey)
}

async function insertNew(
  context: UploadContext,
  asking: CreationRight,
  { creationKey, ...sent }: Creation & { creationKey: string | undefined },
  incoming: Incoming | undefined,
) {
  context.tailCap.assertRoom(asking.token.workspaceId)
  // A partial upload's type is not checked, so it is not stored either.
  const typed = sent.concat === 'partial' ? { ...sent, filetype: null } : sent
  const admitted = await admit(context, asking, typed)
  const { right, declared } = admitted
  const buckets = right.destinations.map((one) => openBucketOf(context, one))
  const limits = limitsOfDestinations(context, right.destinations)
  const { lengthBytes, concat } = declared
  const partBytes = limits.equalParts ? equalPartBytes(limits, lengthBytes) : null
  const made = describeNew(context, admitted, buckets)
  const state = { lengthBytes, offsetBytes: 0, partBytes, hasBegun: false, bound: NOTHING_BOUND }
  const firstParts = incoming && numbersOf(context, limits, state, incoming).toBind()
  const claim = context.leases.newClaim()
  const first = firstParts && { claim, boundEnds: firstParts.boundEnds }
  const upload = { ...made, lengthBytes, partBytes, concat, creationKey }
  await context.insertUpload({ upload, quota: context.quota, nowMs: made.createdAtMs, first })
  return { right, declared, made, upload, limits, first }
}

type CreatingMany = Opening & {
  db: Db
  clock: Clock
  quota: Quota
  emitCreated: EmitCreated
}

/**
 * Creates uploads in the caller's transaction: either all of them or none. Their bytes arrive later. The customer's own
 * backend creates them, so its `before_create` hook is not asked.
 */
export async function createUploads(
  context: CreatingMany,
  right: CreationRight,
  sent: readonly (Declared & { concat: null })[],
): Promise<string[]> {
  const buckets = right.destinations.map((one) => openBucketOf(context, one))
  const limits = limitsOfDestinations(context, right.destinations)
  const uploads = sent.map((declared) => {
    assertMayCreate(context, right, declared)
    const { lengthBytes, concat } = declared
    const partBytes = limits.equalParts ? equalPartBytes(limits, lengthBytes) : null
    const fileId = uuidv7(context.clock.now())
    const admitted = { fileId, right, declared, isAllowedByHook: false }
    return { ...describeNew(context, admitted, buckets), lengthBytes, partBytes, concat }
  })
  await insertMany(context, uploads, { quota: context.quota, nowMs: context.clock.now() })
  return uploads.map(({ fileId }) => fileId)
}

const MAX_AGE_MS = days(30)

/** What a client declares about a file before sending its bytes. */
export type Declared = {
  lengthBytes: number | null
  filename: string
  filetype: string | null
  /** The file's path in a client folder, including its name. */
  relativePath?: string | null
  /** The checksums of the entire file, if the client knows them. */
  checksums?: Checksums | undefined
  /** Identifies this creation among those of the uploader, who may repeat it. */
  idempotencyKey?: string | undefined
  /** The batch named by the client. A batch named in the token takes precedence. */
  batch?: string | undefined
  uploadMetadata: Record<string, string>
  uploadMetadataHeader: string | null
  concat: 'partial' | 'final' | null
  protocol: UploadRow['protocol']
  /**
   * Set if the client may never receive the address: the upload expires after this time unless some bytes become
   * durable.
   */
  graceMs?: number
}

/**
 * Determines the properties that every new upload needs, however it is sent: an owner, names, destinations and an
 * expiry time.
 */
export function describeNew(
  { clock }: Pick<UploadContext, 'clock'>,
  { fileId, right, declared, isAllowedByHook }: Admitted<Declared>,
  buckets: readonly Pick<Bucket, 'capabilities'>[],
) {
  const { filename, filetype, uploadMetadata, uploadMetadataHeader, protocol, graceMs = Infinity } = declared
  const { checksums = NO_CHECKSUMS } = declared
  const { token, pipe, destinations } = right
  const { workspaceId, id: tokenId, maxFiles, maxBytes, senderId, senderName, subject, metadata } = token
  const nowMs = clock.now()
  const expirySeconds = pipe.uploadExpirySeconds
  const folder = hasFolder(pipe.keyTemplate) ? folderOf(declared.relativePath ?? null) : ''
  if (Buffer.byteLength(folder) > MAX_FOLDER_BYTES) throw folderTooLong()
  const facts = { fileId, filename, folder, sender: senderName, pipeId: pipe.id, at: new Date(nowMs) }
  const expiresByMs = nowMs + Math.min(...buckets.map(maxAgeMs))
  const object = objectFor(right, declared, facts)
  const required = buckets.filter((_, n) => destinations[n]!.required)
  if (object) assertStorable(object, required)
  return {
    fileId,
    workspaceId,
    pipeId: pipe.id,
    tokenId,
    linkId: token.linkId,
    maxFiles,
    maxBytes,
    senderId,
    senderName,
    subject,
    metadata,
    object,
    folder: folder || null,
    verifyContent: pipe.verifyContent || null,
    declaredCrc32: checksums.crc32,
    declaredSha256: pipe.computeSha256 ? checksums.sha256 : null,
    sha256State: pipe.computeSha256 ? '' : null,
    batch: declared.concat === 'partial' ? null : batchOf(token, pipe.id, declared.batch),
    filename: withoutControls(filename),
    filetype,
    uploadMetadata,
    uploadMetadataHeader,
    protocol,
    isToldOfCreation: pipe.isToldOfCreation,
    isAllowedByHook,
    isGated: pipe.hooks.includes('before_complete') && declared.concat !== 'partial',
    expirySeconds,
    expiresByMs,
    createdAtMs: nowMs,
    request: currentRequest(),
    expiresAtMs: Math.min(expiresAtMs({ expirySeconds, expiresByMs }, nowMs), nowMs + graceMs),
    destinations: destinations.map(({ dataStore, required }) => ({
      dataStoreId: dataStore.id,
      bucket: dataStore.bucket,
      key: keyOf(right, dataStore, facts),
      required,
    })),
  }
}

/**
 * Section 3 of the contract says that a name is kept as sent. Exceptions are characters that no real name contains:
 * control characters, which can affect terminals, and overrides of the text direction, which show `gpj.exe` as `exe.jpg`.
 */
const withoutControls = (filename: string) => filename.replace(/\p{Cc}|[\u202d\u202e]/gu, '') || 'file'

function keyOf(
  { token, pipe }: CreationRight,
  { prefix }: PipeDestination['dataStore'],
  facts: FileFacts,
): string {
  const key = renderObjectKey(pipe.keyTemplate, { ...facts, prefix, keyPrefix: token.keyPrefix })
  if (key === undefined) throw folderTooLong()
  return key
}

function folderTooLong(): SluiceError {
  return new SluiceError(
    'invalid_request',
    `The file's folder path is too long: it may have up to ${MAX_FOLDER_BYTES} bytes, or fewer if keys have long prefixes.`,
  )
}

/** Pipes are checked when they are saved, but tokens can have settings of their own, and Data Stores can change. */
function assertStorable(object: FileObject, buckets: readonly Pick<Bucket, 'capabilities'>[]): void {
  const [objection] = buckets.flatMap(({ capabilities }) => capabilities.objectionTo(object) ?? [])
  if (!objection) return
  const { setting, message } = objection
  throw new SluiceError('invalid_request', `The file cannot be stored like this: its ${setting} ${message}.`)
}

/** Nobody downloads a piece of a file, but the bucket may require that everything in it is encrypted. */
function objectFor(
  { token, pipe }: CreationRight,
  { concat }: Declared,
  facts: FileFacts,
): FileObject | null {
  const object = objectOf(pipe.object, token.object, facts)
  if (concat !== 'partial') return object
  return object?.encryption ? { encryption: object.encryption } : null
}

/**
 * After this time, an upload expires even while it receives bytes, because the provider deletes unfinished uploads an
 * hour later.
 */
function maxAgeMs({ capabilities }: Pick<Bucket, 'capabilities'>): number {
  const { dropsUnfinishedAfterHours: most } = capabilities
  return most === null ? MAX_AGE_MS : Math.min(MAX_AGE_MS, hours(most - 1))
}
