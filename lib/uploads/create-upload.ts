import type { CreationRight } from '../tokens/authenticate-upload.ts'
import { contentTypeOf } from './content-type.ts'
import { assertMayCreate } from './may-create.ts'
import { type Announced, describeNew } from './new-upload.ts'
import { firstNumbers, type OpenUpload } from './open-upload.ts'
import { equalPartBytes, partLimits } from './part-plan.ts'
import type { UploadContext } from './upload-context.ts'

export type Created = {
  fileId: string
  expiresAtMs: number
  upload: OpenUpload | undefined
}

/** Makes an upload, and opens it at once if its first bytes come along. */
export async function createUpload(
  context: UploadContext,
  right: CreationRight,
  announced: Announced & { concat: 'partial' | null },
  { open }: { open: boolean },
): Promise<Created> {
  const { quota, leases, budget } = context
  assertMayCreate(context, right, announced)
  const bucket = context.openBucket(right.dataStore)
  const limits = partLimits(bucket.capabilities, budget.limitBytes)
  const { lengthBytes, concat } = announced
  const partBytes = limits.equalParts ? equalPartBytes(limits, lengthBytes) : null
  const made = describeNew(context, right, announced, bucket)
  const { fileId, expirySeconds, expiresByMs, expiresAtMs, createdAtMs } = made
  const numbers = firstNumbers(context)
  const lease = open ? { ...leases.terms, numbers } : undefined
  const upload = { ...made, lengthBytes, partBytes, concat }
  await context.insertUpload({ upload, quota, nowMs: createdAtMs, ...(lease && { lease }) })
  context.checkpoint('upload created')
  if (!open) return { fileId, expiresAtMs, upload: undefined }
  const opened: OpenUpload = {
    ...{ fileId, workspaceId: made.workspaceId, bucket, limits, partBytes, lengthBytes },
    ...{ expirySeconds, expiresByMs, expiresAtMs },
    lease: leases.adopt({ fileId, fence: 1 }, createdAtMs),
    key: made.destination.key,
    contentType: contentTypeOf(announced.filetype),
    mayRead: right.dataStore.mayRead,
    announces: right.pipe.announces,
    ...{ offsetBytes: 0, crc32: 0, tailBytes: 0, multipartId: null },
    ...{ usedPartNumber: 0, reservedPartNumber: numbers },
  }
  return { fileId, expiresAtMs, upload: opened }
}
