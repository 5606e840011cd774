import type { UploadRight } from '../tokens/authenticate-upload.ts'
import type { Bucket } from './bucket-port.ts'
import { contentTypeOf } from './content-type.ts'
import type { Lease } from './held-lease.ts'
import type { Taken } from './ledger/take-lease.ts'
import { type PartLimits, partLimits } from './part-plan.ts'
import type { UploadContext } from './upload-context.ts'

/** An upload that this request alone may write, and what of its ledger the writer has to know. */
export type OpenUpload = {
  readonly fileId: string
  readonly workspaceId: string
  readonly lease: Lease
  readonly bucket: Bucket
  readonly limits: PartLimits
  readonly key: string
  readonly contentType: string
  readonly mayRead: boolean
  /** Somebody wanted to hear of its end when the request came. */
  readonly announces: boolean
  readonly expirySeconds: number
  readonly expiresByMs: number
  /** As its row says. */
  expiresAtMs: number
  lengthBytes: number | null
  /** Confirmed, the tail included. */
  offsetBytes: number
  crc32: number
  tailBytes: number
  /** Where all parts must be equal. */
  partBytes: number | null
  multipartId: string | null
  usedPartNumber: number
  reservedPartNumber: number
}

/** Numbers that a lease begins with: enough for the parts that may be in flight before the first is recorded. */
export function firstNumbers({ terms }: Pick<UploadContext, 'terms'>): number {
  return terms.partsInFlight + 1
}

/** Takes the lease, waiting for another writer to let go. Undefined if the upload takes no more bytes. */
export async function openUpload(
  context: UploadContext,
  { upload, pipe, dataStore, token }: UploadRight,
): Promise<OpenUpload | undefined> {
  const numbers = firstNumbers(context)
  // Before the lease is taken: keys that cannot be read must not hold it.
  const bucket = context.openBucket(dataStore)
  const taken = await context.leases.take({ fileId: upload.id, tokenId: token.id, numbers })
  if (!taken) return undefined
  if (taken.resumed) {
    context.metrics.resumes.inc()
    context.metrics.savedBytes.inc(taken.offsetBytes)
  }
  return describe(context, { ...upload, ...taken }, taken, bucket, {
    ...{ numbers, mayRead: dataStore.mayRead, announces: pipe.announces },
  })
}

function describe(
  context: UploadContext,
  file: Pick<UploadRight['upload'], 'id' | 'workspaceId' | 'key' | 'filetype'>,
  taken: Taken & { lease: Lease },
  bucket: Bucket,
  { numbers, mayRead, announces }: { numbers: number; mayRead: boolean; announces: boolean },
): OpenUpload {
  return {
    fileId: file.id,
    workspaceId: file.workspaceId,
    lease: taken.lease,
    bucket,
    limits: partLimits(bucket.capabilities, context.budget.limitBytes),
    key: file.key,
    contentType: contentTypeOf(file.filetype),
    mayRead,
    announces,
    expirySeconds: taken.expirySeconds,
    expiresByMs: taken.expiresByMs,
    expiresAtMs: taken.expiresAtMs,
    lengthBytes: taken.lengthBytes,
    offsetBytes: taken.offsetBytes,
    crc32: taken.crc32,
    tailBytes: taken.tailBytes,
    partBytes: taken.partBytes,
    multipartId: taken.multipartId,
    usedPartNumber: taken.usedPartNumber,
    reservedPartNumber: taken.usedPartNumber + numbers,
  }
}

/** When an upload ends whose last byte came at `nowMs`. */
export function expiresAtMs(of: { expirySeconds: number; expiresByMs: number }, nowMs: number): number {
  return Math.min(nowMs + of.expirySeconds * 1000, of.expiresByMs)
}
