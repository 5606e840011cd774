import { SluiceError } from '../kernel/errors.ts'
import { uuidv7 } from '../kernel/ids.ts'
import { renderObjectKey } from '../pipes/key-template.ts'
import type { CreationRight } from '../tokens/authenticate-upload.ts'
import type { Bucket } from './bucket-port.ts'
import { insertUpload } from './ledger/insert-upload.ts'
import { contentTypeOf, expiresAtMs, firstNumbers, type OpenUpload } from './open-upload.ts'
import { equalPartBytes, largestUpload, type PartLimits, partLimits } from './part-plan.ts'
import type { UploadContext } from './upload-context.ts'

/** What a client says of a file that it is about to send. */
export type Announced = {
  lengthBytes: number | null
  filename: string
  filetype: string | null
  uploadMetadata: Record<string, string>
  uploadMetadataHeader: string | null
  concat: 'partial' | null
}

export type Created = {
  fileId: string
  expirySeconds: number
  createdAtMs: number
  upload: OpenUpload | undefined
}

/** Makes an upload, and opens it at once if its first bytes come along. */
export async function createUpload(
  context: UploadContext,
  right: CreationRight,
  announced: Announced,
  options: { open: boolean },
): Promise<Created> {
  const { clock, db, quota, leases, budget } = context
  const { token, pipe, dataStore } = right
  assertMayCreate(context, right, announced)
  const nowMs = clock.now()
  const fileId = uuidv7(nowMs)
  const bucket = context.openBucket(dataStore)
  const limits = partLimits(bucket.capabilities, budget.limitBytes)
  const partBytes = limits.equalParts ? equalPartBytes(limits, announced.lengthBytes) : null
  const expirySeconds = expiryOf(pipe.uploadExpirySeconds, bucket)
  const age = { expirySeconds, createdAtMs: nowMs }
  const { workspaceId, id: tokenId, maxFiles, senderId, senderName, subject, metadata, keyPrefix } = token
  const key = renderObjectKey(pipe.keyTemplate, {
    ...{ prefix: dataStore.prefix, keyPrefix, fileId, filename: announced.filename },
    ...{ sender: senderName, pipeId: pipe.id, at: new Date(nowMs) },
  })
  const numbers = firstNumbers(context)
  await insertUpload(
    db,
    {
      ...{ fileId, workspaceId, pipeId: pipe.id, tokenId, maxFiles, senderId, senderName, subject, metadata },
      ...announced,
      ...{ partBytes, expirySeconds, expiresAtMs: expiresAtMs(age, nowMs) },
      destination: { dataStoreId: dataStore.id, bucket: dataStore.bucket, key },
    },
    { quota, nowMs, ...(options.open && { lease: { ...leases.terms, numbers } }) },
  )
  context.checkpoint('upload created')
  if (!options.open) return { fileId, ...age, upload: undefined }
  const upload: OpenUpload = {
    ...{ fileId, bucket, limits, key, partBytes, lengthBytes: announced.lengthBytes },
    lease: leases.adopt({ fileId, fence: 1 }),
    contentType: contentTypeOf(announced.filetype),
    partial: announced.concat === 'partial',
    mayRead: dataStore.mayRead,
    ...age,
    ...{ offsetBytes: 0, crc32: 0, tailBytes: 0, multipartId: null },
    ...{ usedPartNumber: 0, reservedPartNumber: numbers },
  }
  return { fileId, ...age, upload }
}

function assertMayCreate(
  context: UploadContext,
  { token, pipe, dataStore }: CreationRight,
  { lengthBytes, filetype }: Announced,
): void {
  if (!pipe.sourceHttp)
    throw new SluiceError(
      'pipe_source_off',
      'Its owner can switch the HTTP (TUS) source on in the dashboard.',
    )
  for (const allowed of [pipe.allowedTypes, token.allowedTypes]) {
    if (allowed.length > 0 && !allowed.some((range) => matchesType(range, filetype)))
      throw new SluiceError(
        'type_not_allowed',
        `Files of type ${filetype ?? 'unknown'} are not allowed here. Allowed: ${allowed.join(', ')}.`,
      )
  }
  const limits = partLimits(context.openBucket(dataStore).capabilities, context.budget.limitBytes)
  const maxBytes = maxUploadBytes(limits, right(token, pipe))
  if (lengthBytes !== null && lengthBytes > maxBytes) throw tooLarge(maxBytes)
}

const right = (token: { maxBytes: number | null }, pipe: { maxFileBytes: number | null }) => ({
  tokenBytes: token.maxBytes,
  pipeBytes: pipe.maxFileBytes,
})

/** The smallest of what the provider takes, the Pipe allows and the token allows. */
export function maxUploadBytes(
  limits: PartLimits,
  { tokenBytes, pipeBytes }: { tokenBytes: number | null; pipeBytes: number | null },
): number {
  return Math.min(largestUpload(limits), tokenBytes ?? Infinity, pipeBytes ?? Infinity)
}

export function tooLarge(maxBytes: number): SluiceError {
  return new SluiceError('file_too_large', `The largest file that this Pipe takes has ${maxBytes} bytes.`, {
    headers: { 'Tus-Max-Size': String(maxBytes) },
  })
}

/** `image/*` allows every image; parameters of the declared type do not matter. */
function matchesType(range: string, filetype: string | null): boolean {
  const type = (filetype ?? '').split(';', 1)[0]!.trim().toLowerCase()
  return range.endsWith('/*') ? type.startsWith(range.slice(0, -1)) : type === range
}

/** Never past the day on which the provider drops what is unfinished. */
function expiryOf(seconds: number, { capabilities }: Bucket): number {
  const { dropsUnfinishedAfterDays: most } = capabilities
  return most === null ? seconds : Math.min(seconds, (most * 24 - 1) * 3600)
}
