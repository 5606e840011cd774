import { span } from '../../platform/tracing/span.ts'
import type { Bucket } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { type FirstLease, isWhole, type WholeRequest } from '../ledger/first-lease.ts'
import type { Taken } from '../ledger/take-lease.ts'
import type { UploadRight, UploadRow } from '../ledger/upload-rights.ts'
import type { MemoryAccount } from '../memory/memory-budget.ts'
import { contentTypeOf } from '../rules/content-type.ts'
import { type Bound, NOTHING_BOUND, PartNumbers } from '../rules/part-numbers.ts'
import { type PartLimits, partLimits, planParts } from '../rules/part-plan.ts'
import type { UploadContext } from '../upload-context.ts'

/** An upload that no other request may write, with what its writer needs from the ledger. */
export type OpenUpload = {
  readonly fileId: string
  readonly workspaceId: string
  readonly lease: Lease
  readonly bucket: Bucket
  /** Where the memory for its bytes comes from: the account of its bucket. */
  readonly memory: MemoryAccount
  readonly limits: PartLimits
  readonly key: string
  readonly contentType: string
  readonly mayRead: boolean
  /** Its Pipe had an active webhook when the request came. */
  readonly hasWebhooks: boolean
  readonly expirySeconds: number
  readonly expiresByMs: number
  /** The value in its row. */
  expiresAtMs: number
  lengthBytes: number | null
  /** Confirmed, the tail included. */
  offsetBytes: number
  crc32: number
  tailBytes: number
  /** The missing bytes no longer have quota reserved. */
  reservationLapsed: boolean
  /** The size of every part, if the provider wants all of them equal. */
  partBytes: number | null
  multipartId: string | null
  /** A single PutObject was sent: the object may exist, whatever the outcome. */
  wasPut: boolean
  readonly numbers: PartNumbers
}

/** What a request declares about its bytes before they arrive. */
export type Incoming = { bytes: number | undefined; lengthBytes?: number | undefined }

/** How many parts are bound to their numbers in advance: those that may be in flight, and the one being filled. */
function boundAhead({ terms }: Pick<UploadContext, 'terms'>): number {
  return terms.partsInFlight + 1
}

/** Takes the lease, waiting for another writer to release it. Undefined if the upload takes no more bytes. */
export async function openUpload(
  context: UploadContext,
  right: UploadRight,
  incoming: Incoming,
): Promise<OpenUpload | undefined> {
  if (right.first) return openFirst(context, { ...right, first: right.first }, incoming)
  const { upload, pipe, dataStore, token } = right
  // Done first, so that credentials which cannot be decrypted throw before the lease is taken.
  const bucket = context.openBucket(dataStore)
  const numbers = (state: Numbered) =>
    numbersOf(context, partLimits(bucket.capabilities, context.budget.maxPartBytes), state, incoming)
  const expected = numbers(upload)
  const boundEnds = expected.toBind().boundEnds
  const { leaseFence: fence, offsetBytes, bound } = upload
  // A plan made while another writer holds the lease would be out of date: that writer may send the parts it has bound.
  const mayPlan = !upload.leased && !isNewLength(incoming, upload)
  const plan = bound && mayPlan ? { fence, offsetBytes, bound, boundEnds } : undefined
  const taken = await span('lease', () => context.leases.take({ fileId: upload.id, tokenId: token.id, plan }))
  if (!taken) return undefined
  if (taken.resumed) {
    context.metrics.resumes.inc()
    context.metrics.savedBytes.inc(taken.offsetBytes)
  }
  if (taken.planned) expected.bindingWritten({ ...taken.bound, boundEnds })
  return describe(context, { ...upload, ...taken }, taken, bucket, {
    numbers: taken.planned ? expected : numbers(taken),
    mayRead: dataStore.mayRead,
    hasWebhooks: pipe.hasWebhooks,
  })
}

/** A newly declared length may still be refused, so no part is bound on its basis before it is recorded. */
function isNewLength({ lengthBytes }: Incoming, upload: { lengthBytes: number | null }): boolean {
  return lengthBytes !== undefined && lengthBytes !== upload.lengthBytes
}

/** For a request that is refused after it has opened the upload. */
export async function releaseUpload({ lease, numbers }: OpenUpload): Promise<void> {
  await lease.release({ bound: numbers.boundAfterRelease(), interrupted: false }).catch(() => {})
}

/**
 * Undefined unless the request brings a whole file whose length is known already: recording a length takes a statement
 * of its own.
 */
export function wholeFileRequest(
  { leases }: Pick<UploadContext, 'leases'>,
  {
    offsetBytes,
    origin,
    protocol,
    ...incoming
  }: Incoming & {
    offsetBytes: number
    origin: string | null
    protocol: UploadRow['protocol']
  },
): WholeRequest | undefined {
  const { bytes, lengthBytes } = incoming
  if (lengthBytes !== undefined || bytes === undefined || !isWhole({ offsetBytes, bytes })) return undefined
  return { bytes, origin, protocol, lease: leases.holder }
}

/** Opens an upload whose lease was taken by the statement that checked its token. */
async function openFirst(
  context: UploadContext,
  { upload, pipe, dataStore, first }: UploadRight & { first: FirstLease },
  incoming: Incoming,
): Promise<OpenUpload> {
  const lease = context.leases.adopt({ fileId: upload.id, fence: 1 }, first.sinceMs)
  try {
    const bucket = context.openBucket(dataStore)
    const limits = partLimits(bucket.capabilities, context.budget.maxPartBytes)
    const state = { ...upload, offsetBytes: 0, multipartId: null, bound: NOTHING_BOUND }
    const numbers = numbersOf(context, limits, state, incoming)
    return describeFirst(context, { ...upload, ...first }, lease, bucket, {
      numbers,
      mayRead: dataStore.mayRead,
      hasWebhooks: pipe.hasWebhooks,
    })
  } catch (error) {
    await lease.release({ bound: NOTHING_BOUND, interrupted: false }).catch(() => {})
    throw error
  }
}

type Described = Pick<UploadRow, 'id' | 'workspaceId' | 'key' | 'filetype'>
type NewlyCreated = Described &
  Pick<UploadRow, 'lengthBytes' | 'partBytes' | 'expiresAtMs'> &
  Pick<FirstLease, 'expirySeconds' | 'expiresByMs'>
type Known = Pick<OpenUpload, 'numbers' | 'mayRead' | 'hasWebhooks'>

/** An upload without bytes, opened under its first lease. */
export function describeFirst(
  context: Pick<UploadContext, 'budget'>,
  upload: NewlyCreated,
  lease: Lease,
  bucket: Bucket,
  known: Known,
): OpenUpload {
  const empty = { offsetBytes: 0, crc32: 0, tailBytes: 0, reservationLapsed: false, multipartId: null }
  return describe(context, upload, { ...upload, ...empty, lease }, bucket, known)
}

function describe(
  context: Pick<UploadContext, 'budget'>,
  file: Described,
  taken: Omit<Taken, 'fence' | 'bound' | 'planned' | 'resumed' | 'leaseLapsed'> & { lease: Lease },
  bucket: Bucket,
  { numbers, mayRead, hasWebhooks }: Known,
): OpenUpload {
  return {
    fileId: file.id,
    workspaceId: file.workspaceId,
    lease: taken.lease,
    bucket,
    memory: context.budget.account(bucket),
    limits: partLimits(bucket.capabilities, context.budget.maxPartBytes),
    key: file.key,
    contentType: contentTypeOf(file.filetype),
    mayRead,
    hasWebhooks,
    expirySeconds: taken.expirySeconds,
    expiresByMs: taken.expiresByMs,
    expiresAtMs: taken.expiresAtMs,
    lengthBytes: taken.lengthBytes,
    offsetBytes: taken.offsetBytes,
    crc32: taken.crc32,
    tailBytes: taken.tailBytes,
    reservationLapsed: taken.reservationLapsed,
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

/** The part numbers of an upload, with the plan for those that this request uses. */
export function numbersOf(
  context: Pick<UploadContext, 'terms'>,
  limits: PartLimits,
  { lengthBytes, offsetBytes, partBytes, multipartId, bound }: Numbered,
  incoming: Incoming,
): PartNumbers {
  const plan = planParts(limits, {
    lengthBytes: incoming.lengthBytes ?? lengthBytes,
    partBytes,
    requestEndOffset: incoming.bytes === undefined ? undefined : offsetBytes + incoming.bytes,
  })
  const found = bound ?? NOTHING_BOUND
  // Parts sent to a multipart upload whose id was lost no longer matter.
  const inherited = multipartId === null ? { ...found, boundEnds: [] } : found
  return new PartNumbers(inherited, plan, boundAhead(context))
}

/** When an upload expires that receives no more bytes after `nowMs`. */
export function expiresAtMs(of: { expirySeconds: number; expiresByMs: number }, nowMs: number): number {
  return Math.min(nowMs + of.expirySeconds * 1000, of.expiresByMs)
}
