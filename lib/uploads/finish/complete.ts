import type { Redo } from '../../platform/db/recent-commits.ts'
import { pause } from '../../platform/kernel/waits.ts'
import type { Bucket, SentPart } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { withLease } from '../lease/leases.ts'
import { takeForRepair } from '../ledger/after-failover.ts'
import { currentOffset } from '../ledger/offsets.ts'
import { readParts } from '../ledger/parts.ts'
import type { Destination } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { recordTransferred, type Stored } from './record-transferred.ts'
import { foundAtEach, type Look } from './recover-from-fault.ts'

/** A file whose bytes are all in parts, ready to become an object at one destination. */
export type Assembly = {
  fileId: string
  lease: Lease
  /** `multipartId` is null while a best-effort destination lags behind with its first part. */
  destination: { bucket: Bucket; key: string; position: number; readonly multipartId: string | null }
  bytes: number
  crc32: number
  /** The bucket may already have created the object, in an attempt with an unknown outcome. */
  sentBefore: boolean
  /** Called with the parts the object is created from. */
  onParts?: (parts: SentPart[]) => void
}

/**
 * Makes one attempt to create the object from the parts. `complete_sent_at` is committed before this is called, so
 * after a crash at any point, the reconciler finds a `transferring` file.
 */
export async function assemble(
  context: UploadContext,
  { fileId, lease, destination, bytes, crc32, sentBefore, onParts }: Assembly,
  signal: AbortSignal,
): Promise<Stored> {
  const { bucket, key } = destination
  const parts = await lease.whileHeld(acknowledgedParts(context, fileId, destination, signal))
  onParts?.(parts)
  lease.assertHeld()
  const upload = { key, multipartId: destination.multipartId! }
  const options = { signal, repeated: sentBefore }
  const { etag } = await bucket.completeMultipart(upload, { parts, bytes, crc32 }, options)
  context.checkpoint('complete answered')
  return { delivered: { etag, certainty: 'answered' } }
}

/**
 * Required destinations have acknowledged each recorded part; for best-effort ones, this waits for the last parts.
 */
async function acknowledgedParts(
  { db, terms }: UploadContext,
  fileId: string,
  destination: Assembly['destination'],
  signal: AbortSignal,
): Promise<SentPart[]> {
  for (;;) {
    const parts = await readParts(db, fileId, destination.position)
    if (destination.multipartId && parts.every(isAcknowledged)) return parts
    await pause(terms.pollMs, signal)
    signal.throwIfAborted()
  }
}

export const isAcknowledged = (part: { etag: string | null }): part is SentPart => part.etag !== null

/** A file whose object is still being created, but whose client may already know that all its bytes have arrived. */
type Unmade = Pick<Assembly, 'fileId' | 'bytes' | 'crc32'> & { destinations: readonly Destination[] }

/** Shorter than the lease taken for the repair, which is not renewed. */
const COMPLETE_WITHIN_MS = 20_000

/**
 * Remembers how to create the object. A database that was promoted without the last commits may still have the file as
 * unfinished, without its last parts, and its client will not come back to send them. If the parts at a required
 * destination were never read, its bucket was never asked to create the object, so there is nothing to remember.
 */
export function rememberUnmade(
  context: UploadContext,
  unmade: Unmade,
  partsAt: ReadonlyMap<Destination, SentPart[]>,
): void {
  const { database, ...others } = context
  const { fileId, bytes: lengthBytes, crc32, destinations } = unmade
  const places = destinations.map((destination) => ({ destination, parts: partsAt.get(destination) }))
  if (places.some(({ destination, parts }) => destination.required && !parts)) return
  const again: Redo = async (db) => {
    const file = await currentOffset(db, fileId)
    if (!file) throw new Error(`${fileId} has no record yet.`)
    if (file.status !== 'uploading') return 'is there'
    const ledger = { ...others, db }
    const isMade = await withLease(
      ledger,
      fileId,
      async (lease) => {
        const signal = AbortSignal.any([lease.signal, AbortSignal.timeout(COMPLETE_WITHIN_MS)])
        const looks = await Promise.all(places.map((place) => makeAt(unmade, place, signal)))
        const found = looks.length > 1 ? { etag: null, several: foundAtEach(looks)! } : looks[0]!.found!
        return recordTransferred(ledger, lease, { found }, { lengthBytes, crc32 })
      },
      takeForRepair,
    )
    if (!isMade) throw new Error(`${fileId} is being written.`)
    return 'made again'
  }
  database.recent.note('object', again)
  // If the database has just failed over, the remembered commits have already been restored without this one.
  database.recent.doubt('object', again)
}

type Place = { destination: Destination; parts: SentPart[] | undefined }

/**
 * Tries to create the object at one destination. A best-effort destination where this fails is left without the object.
 */
async function makeAt(unmade: Unmade, place: Place, signal: AbortSignal): Promise<Look> {
  const { dataStoreId, required, isOpen } = place.destination
  const making = async () => ({ etag: await makeOrFind(unmade, place, signal) })
  if (required) return { dataStoreId, required, found: await making() }
  const isPossible = isOpen && place.parts !== undefined
  return { dataStoreId, required, found: isPossible ? await making().catch(() => undefined) : undefined }
}

/**
 * An attempt from before the failover may have created the object. This never fails the file: if the object cannot be
 * created, the client has to continue the upload.
 */
async function makeOrFind(
  { bytes, crc32 }: Unmade,
  { destination, parts }: Place,
  signal: AbortSignal,
): Promise<string | null> {
  const { bucket, key, mayRead, multipartId } = destination
  try {
    const upload = { key, multipartId: multipartId! }
    const object = { parts: parts!, bytes, crc32 }
    return (await bucket.completeMultipart(upload, object, { signal, repeated: true })).etag
  } catch (fault) {
    const found = mayRead ? await bucket.headObject(key, { signal }) : undefined
    if (found?.bytes !== bytes) throw fault
    return found.etag
  }
}
