import { span } from '../platform/tracing/span.ts'
import type { Bucket } from './bucket-port.ts'
import { contentTypeOf } from './content-type.ts'
import type { Lease } from './lease/held-lease.ts'
import { type FirstLease, isWhole, type WholeRequest } from './ledger/first-lease.ts'
import type { Taken } from './ledger/take-lease.ts'
import type { UploadRight } from './ledger/upload-rights.ts'
import { type Bound, PartNumbers } from './part-numbers.ts'
import { type PartLimits, partLimits, planParts } from './part-plan.ts'
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
  /** Nothing is reserved of the quota for what is missing. */
  lapsed: boolean
  /** Where all parts must be equal. */
  partBytes: number | null
  multipartId: string | null
  /** It was sent as a single PutObject: the object may be there, whatever came of it. */
  wasPut: boolean
  readonly numbers: PartNumbers
}

/** What a request says of its bytes before they arrive. */
export type Incoming = { bytes: number | undefined; lengthBytes?: number | undefined }

/** How many parts are bound to their numbers in advance: those that may be in flight, and the one being filled. */
export function boundAhead({ terms }: Pick<UploadContext, 'terms'>): number {
  return terms.partsInFlight + 1
}

/** Takes the lease, waiting for another writer to let go. Undefined if the upload takes no more bytes. */
export async function openUpload(
  context: UploadContext,
  right: UploadRight,
  incoming: Incoming,
): Promise<OpenUpload | undefined> {
  if (right.first) return openFirst(context, { ...right, first: right.first }, incoming)
  const { upload, pipe, dataStore, token } = right
  // Before the lease is taken: keys that cannot be read must not hold it.
  const bucket = context.openBucket(dataStore)
  const numbers = (state: Numbered) =>
    numbersOf(context, partLimits(bucket.capabilities, context.budget.limitBytes), state, incoming)
  const expected = numbers(upload)
  const endsBytes = expected.toBind().endsBytes
  const { leaseFence: fence, offsetBytes, bound } = upload
  // Whoever held it meanwhile may have created the multipart upload, and sent what he had bound.
  const mayPlan = !upload.leased && !isNewLength(incoming, upload)
  const plan = bound && mayPlan ? { fence, offsetBytes, bound, endsBytes } : undefined
  const taken = await span('lease', () => context.leases.take({ fileId: upload.id, tokenId: token.id, plan }))
  if (!taken) return undefined
  if (taken.resumed) {
    context.metrics.resumes.inc()
    context.metrics.savedBytes.inc(taken.offsetBytes)
  }
  if (taken.planned) expected.commit({ ...taken.bound, endsBytes })
  return describe(context, { ...upload, ...taken }, taken, bucket, {
    numbers: taken.planned ? expected : numbers(taken),
    mayRead: dataStore.mayRead,
    announces: pipe.announces,
  })
}

/** It may be refused yet: nothing is bound by it before it stands. */
function isNewLength({ lengthBytes }: Incoming, upload: { lengthBytes: number | null }): boolean {
  return lengthBytes !== undefined && lengthBytes !== upload.lengthBytes
}

/** Releases an upload that was opened and then refused. */
export async function letUploadGo({ lease, numbers }: OpenUpload): Promise<void> {
  await lease.release({ bound: numbers.toKeep(), interrupted: false }).catch(() => {})
}

/** What a request says before it is known whether it may; a length that is declared only now takes a statement of its own. */
export function wholeOf(
  { leases }: Pick<UploadContext, 'leases'>,
  { offsetBytes, origin, ...incoming }: Incoming & { offsetBytes: number; origin: string | null },
): WholeRequest | undefined {
  const { bytes, lengthBytes } = incoming
  if (lengthBytes !== undefined || bytes === undefined || !isWhole({ offsetBytes, bytes })) return undefined
  return { bytes, origin, lease: leases.terms }
}

const NOTHING_BOUND: Bound = { number: 0, startBytes: 0, endsBytes: [] }

/** The lease came with the right. */
async function openFirst(
  context: UploadContext,
  { upload, pipe, dataStore, first }: UploadRight & { first: FirstLease },
  incoming: Incoming,
): Promise<OpenUpload> {
  const { sinceMs, ...terms } = first
  const lease = context.leases.adopt({ fileId: upload.id, fence: 1 }, sinceMs)
  try {
    const bucket = context.openBucket(dataStore)
    const limits = partLimits(bucket.capabilities, context.budget.limitBytes)
    const taken = {
      ...{ ...terms, lease, fence: lease.fence, bound: NOTHING_BOUND, multipartId: null, planned: true },
      ...{ offsetBytes: 0, crc32: 0, tailBytes: 0, resumed: false, lapsed: false },
      ...{ lengthBytes: upload.lengthBytes, partBytes: upload.partBytes, expiresAtMs: upload.expiresAtMs },
    }
    return describe(context, upload, taken, bucket, {
      numbers: numbersOf(context, limits, taken, incoming),
      mayRead: dataStore.mayRead,
      announces: pipe.announces,
    })
  } catch (error) {
    await lease.release({ bound: NOTHING_BOUND, interrupted: false }).catch(() => {})
    throw error
  }
}

function describe(
  context: UploadContext,
  file: Pick<UploadRight['upload'], 'id' | 'workspaceId' | 'key' | 'filetype'>,
  taken: Taken & { lease: Lease },
  bucket: Bucket,
  { numbers, mayRead, announces }: { numbers: PartNumbers; mayRead: boolean; announces: boolean },
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
    lapsed: taken.lapsed,
    partBytes: taken.partBytes,
    multipartId: taken.multipartId,
    wasPut: false,
    numbers,
  }
}

type Numbered = {
  lengthBytes: number | null
  offsetBytes: number
  partBytes: number | null
  multipartId: string | null
  bound: Bound | null
}

/** The part numbers of an upload, and what this request will do with them. */
export function numbersOf(
  context: Pick<UploadContext, 'terms'>,
  limits: PartLimits,
  { lengthBytes, offsetBytes, partBytes, multipartId, bound }: Numbered,
  incoming: Incoming,
): PartNumbers {
  const plan = planParts(limits, {
    lengthBytes: incoming.lengthBytes ?? lengthBytes,
    partBytes,
    requestEndBytes: incoming.bytes === undefined ? undefined : offsetBytes + incoming.bytes,
  })
  const found = bound ?? { number: 0, startBytes: 0, endsBytes: [] }
  // Parts that an earlier writer sent to a multipart upload whose id was lost are in nobody's way.
  const inherited = multipartId === null ? { ...found, endsBytes: [] } : found
  return new PartNumbers(inherited, plan, boundAhead(context))
}

/** When an upload ends whose last byte came at `nowMs`. */
export function expiresAtMs(of: { expirySeconds: number; expiresByMs: number }, nowMs: number): number {
  return Math.min(nowMs + of.expirySeconds * 1000, of.expiresByMs)
}
