import type { CreationRight } from '../ledger/upload-rights.ts'
import { equalPartBytes, partLimits } from '../rules/part-plan.ts'
import type { UploadContext } from '../upload-context.ts'
import { assertMayCreate } from './may-create.ts'
import { type Declared, describeNew } from './new-upload.ts'
import { describeFirst, type Incoming, numbersOf, type OpenUpload } from './open-upload.ts'

export type Created = {
  fileId: string
  expiresAtMs: number
  upload: OpenUpload | undefined
}

/** Creates an upload. With `incoming`, also opens it for the bytes that the same request brings. */
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
  const { fileId, expiresAtMs, createdAtMs } = made
  const state = { lengthBytes, offsetBytes: 0, partBytes, multipartId: null, bound: null }
  const numbers = incoming && numbersOf(context, limits, state, incoming)
  const firstParts = numbers?.toBind()
  const firstLease = firstParts && { ...leases.holder, boundEnds: firstParts.boundEnds }
  const upload = { ...made, lengthBytes, partBytes, concat }
  await context.insertUpload({ upload, quota, nowMs: createdAtMs, ...(firstLease && { lease: firstLease }) })
  context.checkpoint('upload created')
  if (!numbers) return { fileId, expiresAtMs, upload: undefined }
  numbers.bindingWritten(firstParts!)
  const lease = leases.adopt({ fileId, fence: 1 }, createdAtMs)
  const row = { ...upload, id: fileId, key: made.destination.key, filetype: declared.filetype }
  const opened = describeFirst(context, row, lease, bucket, {
    numbers,
    mayRead: right.dataStore.mayRead,
    hasWebhooks: right.pipe.hasWebhooks,
  })
  return { fileId, expiresAtMs, upload: opened }
}
