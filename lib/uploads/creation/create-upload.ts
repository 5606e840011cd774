import type { CreationRight } from '../ledger/upload-rights.ts'
import { type Incoming, numbersOf, type OpenUpload } from '../open-upload.ts'
import { equalPartBytes, partLimits } from '../part-plan.ts'
import type { UploadContext } from '../upload-context.ts'
import { contentTypeOf } from './content-type.ts'
import { assertMayCreate } from './may-create.ts'
import { type Declared, describeNew } from './new-upload.ts'

export type Created = {
  fileId: string
  expiresAtMs: number
  upload: OpenUpload | undefined
}

/** Creates an upload, and opens it at once for the first bytes that come along. */
export async function createUpload(
  context: UploadContext,
  right: CreationRight,
  sent: Declared & { concat: 'partial' | null },
  incoming: Incoming | undefined,
): Promise<Created> {
  const { quota, leases, budget } = context
  // A partial upload's type is not checked, so it is not stored either.
  const declared = sent.concat === 'partial' ? { ...sent, filetype: null } : sent
  assertMayCreate(context, right, declared)
  context.tailCap.assertRoom(right.token.workspaceId)
  const bucket = context.openBucket(right.dataStore)
  const limits = partLimits(bucket.capabilities, budget.maxPartBytes)
  const { lengthBytes, concat } = declared
  const partBytes = limits.equalParts ? equalPartBytes(limits, lengthBytes) : null
  const made = describeNew(context, right, declared, bucket)
  const { fileId, expirySeconds, expiresByMs, expiresAtMs, createdAtMs } = made
  const state = { lengthBytes, offsetBytes: 0, partBytes, multipartId: null, bound: null }
  const numbers = incoming && numbersOf(context, limits, state, incoming)
  const firstParts = numbers?.toBind()
  const lease = firstParts && { ...leases.holder, boundEnds: firstParts.boundEnds }
  const upload = { ...made, lengthBytes, partBytes, concat }
  await context.insertUpload({ upload, quota, nowMs: createdAtMs, ...(lease && { lease }) })
  context.checkpoint('upload created')
  if (!numbers) return { fileId, expiresAtMs, upload: undefined }
  numbers.bindingWritten(firstParts!)
  const opened: OpenUpload = {
    fileId,
    workspaceId: made.workspaceId,
    bucket,
    limits,
    partBytes,
    lengthBytes,
    expirySeconds,
    expiresByMs,
    expiresAtMs,
    lease: leases.adopt({ fileId, fence: 1 }, createdAtMs),
    key: made.destination.key,
    contentType: contentTypeOf(declared.filetype),
    mayRead: right.dataStore.mayRead,
    hasWebhooks: right.pipe.hasWebhooks,
    offsetBytes: 0,
    crc32: 0,
    tailBytes: 0,
    reservationLapsed: false,
    multipartId: null,
    wasPut: false,
    numbers,
  }
  return { fileId, expiresAtMs, upload: opened }
}
