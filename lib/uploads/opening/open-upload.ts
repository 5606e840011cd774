import { contentTypeOf } from '../../media-types/content-type.ts'
import { span } from '../../platform/tracing/span.ts'
import { giveBack } from '../lease/held-lease.ts'
import { type FirstLease, isWhole, type WholeRequest } from '../ledger/first-lease.ts'
import type { Taken } from '../ledger/lease-rows.ts'
import type { FileDestination, UploadRight } from '../ledger/upload-rights.ts'
import type { UploadRow } from '../ledger/upload-rows.ts'
import { type Bound, NOTHING_BOUND, PartNumbers } from '../rules/part-numbers.ts'
import { type PartLimits, planParts } from '../rules/part-plan.ts'
import type { UploadContext } from '../upload-context.ts'
import { limitsOfDestinations } from './may-create.ts'
import { openBucketOf } from './open-bucket-of.ts'
import { Destination, type Place, Progress, type Upload } from './upload.ts'

/** What a request declares about its bytes before they arrive, and the offset of the first, if it does. */
export type Incoming = {
  bytes: number | undefined
  lengthBytes?: number | undefined
  offsetBytes?: number | undefined
}

/**
 * Opens an upload for writing. Takes its lease, unless the statement that checked the token has already done so, and
 * waits if another writer holds it. Undefined if the upload accepts no more bytes.
 */
export async function openUpload(
  context: UploadContext,
  right: UploadRight,
  incoming: Incoming,
): Promise<Upload | undefined> {
  if (right.first) return adoptUpload(context, right, right.first, incoming)
  const { upload, destinations, token } = right
  // This comes first, so that it throws before the lease is taken if the credentials cannot be decrypted.
  const places = openPlaces(context, destinations, upload)
  const limits = limitsOfLane(upload, limitsOfDestinations(context, destinations.filter(isWritten)))
  const numbers = (state: Numbered) =>
    numbersOf(context, limits, { ...state, laneOf: upload.laneOf }, incoming)
  const expected = numbers({ ...upload, hasBegun: hasBegun(destinations) })
  const boundEnds = expected.toBind().boundEnds
  const { leaseFence: fence, offsetBytes, bound } = upload
  // A plan made while another writer holds the lease would be out of date, because that writer binds parts.
  const mayPlan = !upload.leased && !isNewLength(incoming, upload)
  const plan = mayPlan ? { fence, offsetBytes, bound, boundEnds } : undefined
  const isLane = upload.laneOf !== null
  const file = { rowId: upload.id, isLane, tokenId: token.id, plan, fromBytes: incoming.offsetBytes }
  const taken = await span('lease', () => context.leases.take(file))
  if (!taken) return undefined
  if (taken.resumed) context.metrics.resumes.inc()
  context.metrics.savedBytes.inc(taken.savedBytes)
  if (taken.planned) expected.bindingWritten({ ...taken.bound, boundEnds })
  const parts = {
    limits,
    destinations: places.map((place, n) => new Destination(place, taken.held[n]!)),
    lease: taken.lease,
    numbers: taken.planned ? expected : numbers({ ...taken, hasBegun: hasBegun(taken.held) }),
  }
  try {
    return describe(context, right, { ...upload, ...taken }, parts)
  } catch (error) {
    await giveBack(taken.lease, { bound: parts.numbers.boundAfterRelease() })
    throw error
  }
}

/** An abandoned destination's limits do not apply to the other destinations. */
const isWritten = ({ required, status }: FileDestination): boolean =>
  required || status === 'pending' || status === 'transferring'

/** All parts of a file with lanes have the same size, so that each lane knows the numbers of its parts. */
const limitsOfLane = ({ laneOf }: Pick<UploadRow, 'laneOf'>, limits: PartLimits): PartLimits =>
  laneOf === null ? limits : { ...limits, equalParts: true }

const hasBegun = (held: readonly { multipartId: string | null }[]) =>
  held.some(({ multipartId }) => multipartId !== null)

/** The row's values for an upload without bytes. */
const EMPTY = {
  lengthCameLast: null,
  offsetBytes: 0,
  crc32: 0,
  tailBytes: 0,
  reservationLapsed: false,
  hasBegun: false,
}

type Fresh = Pick<
  UploadRow,
  | 'id'
  | 'workspaceId'
  | 'filetype'
  | 'object'
  | 'verifyContent'
  | 'declaredCrc32'
  | 'declaredSha256'
  | 'sha256State'
  | 'lengthBytes'
  | 'partBytes'
  | 'expiresAtMs'
  | 'decision'
>

/**
 * Opens an upload without bytes whose first lease was taken by another statement: the one that created it and bound
 * its first parts, or the one that checked its token.
 */
export async function adoptUpload(
  context: UploadContext,
  right: Pick<UploadRight, 'pipe'> & { upload: Fresh; destinations: readonly NewDestination[] },
  first: FirstLease & { boundEnds?: readonly number[] },
  incoming: Incoming,
): Promise<Upload> {
  const { upload } = right
  const { boundEnds = [] } = first
  const lease = context.leases.adopt({ ...first.claim, rowId: upload.id, fence: 1 })
  try {
    const places = openPlaces(context, right.destinations, upload)
    const limits = limitsOfDestinations(context, right.destinations)
    const state = { ...upload, ...EMPTY, laneOf: null, bound: NOTHING_BOUND }
    const numbers = numbersOf(context, limits, state, incoming)
    numbers.bindingWritten({ ...NOTHING_BOUND, boundEnds })
    const destinations = places.map((place) => new Destination(place, NEW))
    return describe(context, right, { ...state, ...first }, { limits, destinations, lease, numbers })
  } catch (error) {
    await giveBack(lease, { bound: NOTHING_BOUND })
    throw error
  }
}

/** A newly declared length may still be refused, so no part is bound based on the length until it has been recorded. */
function isNewLength({ lengthBytes }: Incoming, upload: { lengthBytes: number | null }): boolean {
  return lengthBytes !== undefined && lengthBytes !== upload.lengthBytes
}

type Row = Pick<Fresh, 'id' | 'workspaceId' | 'filetype' | 'verifyContent' | 'decision'> &
  Pick<Fresh, 'declaredCrc32' | 'declaredSha256' | 'sha256State'> &
  Pick<UploadRow, 'laneOf'> &
  Pick<
    Taken,
    'lengthBytes' | 'lengthCameLast' | 'offsetBytes' | 'crc32' | 'tailBytes' | 'reservationLapsed'
  > &
  Pick<Taken, 'expirySeconds' | 'expiresAtMs' | 'expiresByMs'>

/** The only place where an upload object is built. */
function describe(
  context: Pick<UploadContext, 'budget' | 'openHash'>,
  { pipe }: Pick<UploadRight, 'pipe'>,
  row: Row,
  parts: Pick<Upload, 'limits' | 'destinations' | 'lease' | 'numbers'>,
): Upload {
  return {
    fileId: row.laneOf ?? row.id,
    isLane: row.laneOf !== null,
    workspaceId: row.workspaceId,
    memory: context.budget.account(parts.destinations[0]!.bucket),
    declaredType: row.filetype,
    declared: { crc32: row.declaredCrc32, sha256: row.declaredSha256 },
    hash: row.sha256State === null ? undefined : context.openHash(row.id, hashFrom(row)),
    verifiesContent: row.verifyContent === true,
    hasWebhooks: pipe.hasWebhooks,
    isGated: row.decision !== null,
    progress: new Progress(row),
    ...parts,
  }
}

const hashFrom = ({ sha256State, offsetBytes, lengthBytes }: Row) => ({
  state: sha256State!,
  isWhole: isWhole({ offsetBytes, bytes: lengthBytes ?? Infinity }),
})

/** What is known about a destination before its row is in the ledger. */
type NewDestination = Pick<FileDestination, 'dataStore' | 'required' | 'key'>
const NEW = { multipartId: null, isOpen: true }

export function openPlaces(
  context: Pick<UploadContext, 'openBucket'>,
  destinations: readonly NewDestination[],
  { filetype, object }: Pick<Fresh, 'filetype' | 'object'>,
): Place[] {
  const contentType = contentTypeOf(filetype)
  return destinations.map(({ dataStore, required, key }, n) => ({
    dataStoreId: dataStore.id,
    position: n + 1,
    required,
    bucket: openBucketOf(context, { dataStore, required }),
    target: { key, contentType, object },
    mayRead: dataStore.mayRead,
  }))
}

type Numbered = {
  laneOf?: string | null
  lengthBytes: number | null
  offsetBytes: number
  partBytes: number | null
  /** True if at least one bucket has a multipart upload for the file. */
  hasBegun: boolean
  bound: Bound
}

/** An upload's part numbers, with the plan for those that this request uses. */
export function numbersOf(
  { terms }: Pick<UploadContext, 'terms'>,
  limits: PartLimits,
  { lengthBytes, offsetBytes, partBytes, laneOf, hasBegun, bound }: Numbered,
  incoming: Incoming,
): PartNumbers {
  const plan = planParts(limits, {
    lengthBytes: incoming.lengthBytes ?? lengthBytes,
    partBytes,
    isLane: Boolean(laneOf),
    requestEndOffset: incoming.bytes === undefined ? undefined : offsetBytes + incoming.bytes,
  })
  // Parts sent to a multipart upload whose id was lost no longer matter.
  const inherited = hasBegun ? bound : { ...bound, boundEnds: [] }
  // The numbers of parts that may be in flight, and of the part being filled, are bound in advance.
  return new PartNumbers(inherited, plan, terms.partsInFlight + 1)
}

/**
 * The input with which the statement that checks the token also takes the lease. Undefined unless the request contains
 * an entire file whose length is already recorded: recording a length takes a separate statement.
 */
export function wholeFileRequest(
  { leases }: Pick<UploadContext, 'leases'>,
  request: Incoming & Pick<WholeRequest, 'origin' | 'protocol'> & { offsetBytes: number },
): WholeRequest | undefined {
  const { bytes, lengthBytes, offsetBytes, origin, protocol } = request
  if (lengthBytes !== undefined || bytes === undefined || !isWhole({ offsetBytes, bytes })) return undefined
  return { bytes, origin, protocol, claim: leases.newClaim() }
}
