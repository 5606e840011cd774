import { crc32 } from 'node:zlib'
import { combineCrc32 } from '../platform/kernel/crc32.ts'
import { withMemory } from '../upload-memory/memory-budget.ts'
import type { Bucket, SentPart } from '../uploads/bucket-port.ts'
import { type Judged, judge } from '../uploads/finish/create-object.ts'
import { type Outcome, settle } from '../uploads/finish/settle.ts'
import type { Lease } from '../uploads/lease/held-lease.ts'
import type { StoredObject } from '../uploads/ledger/transferred.ts'
import type { Place } from '../uploads/opening/upload.ts'
import { classify } from '../uploads/rules/faults.ts'
import { beginMultipart } from '../uploads/stream/begin-multipart.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { type ConcatStep, concatPlan } from './concat-plan.ts'
import type { PartialObject } from './partials.ts'

/** A destination at which the partial uploads' objects are joined. */
export type JoiningPlace = Pick<Place, 'dataStoreId' | 'required' | 'mayRead' | 'bucket' | 'target'> & {
  /** The multipart upload left by an attempt that crashed. The next attempt aborts it first. */
  leftMultipartId: string | null
}

/** A final upload: all its bytes are already in its buckets, in the objects of its partial uploads. */
export type Joining = {
  fileId: string
  lease: Lease
  partials: readonly PartialObject[]
  /** The destinations that do not have the object yet. */
  places: readonly JoiningPlace[]
}

/** The joined file's size and checksum, computed from those of its pieces. */
export function totalOf(partials: readonly PartialObject[]): { bytes: number; crc32: number } {
  return partials.reduce(
    (whole, { bytes, crc32: crc }) => ({
      bytes: whole.bytes + bytes,
      crc32: combineCrc32(whole.crc32, crc, bytes),
    }),
    { bytes: 0, crc32: 0 },
  )
}

/**
 * Joins several objects into one, at each destination. The join can be repeated, because no object is visible before
 * Complete.
 */
export async function concatenate(context: UploadContext, joining: Joining): Promise<Outcome> {
  const { fileId, lease, partials, places } = joining
  const { bytes: lengthBytes } = totalOf(partials)
  // Each attempt starts over, regardless of earlier outcomes.
  const file = { fileId, lease, lengthBytes, sentBefore: true }
  const destinations = places.map((place) => ({ ...place, key: place.target.key }))
  return settle(context, file, destinations, async (attempt): Promise<Judged> => {
    const { destination } = attempt
    if (!partials.every(({ keys }) => destination.dataStoreId in keys))
      return { kind: 'failed', end: { reason: PIECE_MISSING }, error: undefined }
    return judge(context, attempt, 'join', join(context, joining, destination, attempt.lease.signal))
  })
}

const PIECE_MISSING = 'This Data Store is missing a piece that the file was joined from.'

async function join(
  context: UploadContext,
  joining: Joining,
  place: JoiningPlace,
  signal: AbortSignal,
): Promise<StoredObject> {
  const { etag } = await assemble(context, joining, place, signal)
  context.checkpoint('complete answered')
  return { etag, certainty: 'answered', storage: place.bucket.storageOf(place.target.object) }
}

async function assemble(
  context: UploadContext,
  { partials, lease }: Joining,
  place: JoiningPlace,
  signal: AbortSignal,
): Promise<{ etag: string | null }> {
  const { checkpoint } = context
  const { bucket, dataStoreId, target, leftMultipartId } = place
  const { key } = target
  if (leftMultipartId)
    await bucket.abortMultipart({ key, multipartId: leftMultipartId }, { signal }).catch(() => {})
  const whole = totalOf(partials)
  const steps = concatPlan(partials.map(({ bytes }) => bytes))
  const repeated = leftMultipartId !== null
  if (steps.length === 0) return bucket.putObject(target, { chunks: [], ...whole }, { signal, repeated })
  const copying = bucket.forCopies()
  const account = context.budget.account(bucket)
  const multipartId = await beginMultipart(context, { bucket: copying, target, dataStoreId, lease })
  const keys = partials.map((partial) => partial.keys[dataStoreId]!)
  const send = (step: ConcatStep, part: Part) =>
    sendStep({ bucket: copying, partials, keys, signal }, step, part)
  const parts: SentPart[] = []
  for (const [n, step] of steps.entries()) {
    lease.assertHeld()
    const memory = { bytes: readBytes(step), signal }
    const part = { key, multipartId, number: n + 1 }
    parts.push(await withMemory(account, memory, () => send(step, part)))
    checkpoint('part sent')
  }
  lease.assertHeld()
  try {
    const options = { signal, repeated }
    return await copying.completeMultipart({ ...target, multipartId }, { parts, ...whole }, options)
  } catch (error) {
    // An earlier attempt, whose response was lost, has created the object, so this multipart upload is left over.
    if (classify(error, 'join', { sentBefore: true }).remedy === 'compare')
      await bucket.abortMultipart({ key, multipartId }, { signal }).catch(() => {})
    throw error
  }
}

/** How many of the step's bytes pass through this process. The others are copied within the bucket. */
function readBytes(step: ConcatStep): number {
  return 'copy' in step ? 0 : step.join.reduce((sum, { bytes }) => sum + bytes, 0)
}

type Part = { key: string; multipartId: string; number: number }

type Sending = {
  bucket: ReturnType<Bucket['forCopies']>
  partials: readonly PartialObject[]
  /** The keys of the partial uploads in this bucket, in order. */
  keys: readonly string[]
  signal: AbortSignal
}

async function sendStep(
  { bucket, partials, keys, signal }: Sending,
  step: ConcatStep,
  part: Part,
): Promise<SentPart> {
  if ('copy' in step) {
    const { source, first, bytes } = step.copy
    // S3 can copy a range only from an object larger than 5 MB, but it can copy an entire object of any size.
    const range = bytes === partials[source]!.bytes ? null : { first, bytes }
    const copied = await bucket.copyPart(part, { key: keys[source]!, range }, { signal })
    return { number: part.number, ...copied }
  }
  const chunks = await Promise.all(
    step.join.map(({ source, first, bytes }) => bucket.readRange(keys[source]!, first, bytes, { signal })),
  )
  const crc = chunks.reduce((sum, chunk) => crc32(chunk, sum), 0)
  const { etag } = await bucket.uploadPart(part, { chunks, bytes: readBytes(step), crc32: crc }, { signal })
  return { number: part.number, etag, crc32: crc }
}
