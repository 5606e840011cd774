import type { Db } from '../../platform/db/database.ts'
import type { Redo } from '../../platform/db/recent-commits.ts'
import { span } from '../../platform/tracing/span.ts'
import type { Bucket, Target } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { withLease } from '../lease/leases.ts'
import { takeForRepair } from '../ledger/after-failover.ts'
import { markRepaired, type RepairClaim, recordRepaired } from '../ledger/destination-repairs.ts'
import { type DestinationRow, lockDestinations, recordDelivered } from '../ledger/destinations.ts'
import { currentOffset } from '../ledger/offsets.ts'
import { discardPartials } from '../ledger/partials.ts'
import { type Delivered, type FoundAtEach, markFound, markTransferred } from '../ledger/transferred.ts'
import { statusOf } from '../rules/file-status.ts'
import type { UploadContext } from '../upload-context.ts'

/** How an object got into the bucket. */
export type Stored =
  /** Created from the parts and tail in the ledger; `also` runs in the same transaction. */
  | { delivered: Delivered; also?: (tx: Db) => Promise<void> }
  /** Found complete in the bucket, or in each of several buckets, even if the ledger only has some of its bytes. */
  | { found: { etag: string | null; several?: FoundAtEach } }
  /** Stored by a single PutObject; `whole` records it together with other files that finish at the same time. */
  | { whole: () => Promise<boolean>; etag: string | null }

/** What is known about the object's bytes. */
type Content = { lengthBytes?: number | null; crc32?: number }

type Freed = Pick<Lease, 'fileId' | 'fence' | 'claim' | 'forget'>

/**
 * The only code that marks a file transferred. The same transaction writes its event and releases the lease. False if
 * the lease was lost, in which case nothing has changed.
 */
export async function recordTransferred(
  context: Ledger,
  lease: Freed,
  stored: Stored,
  content: Content = {},
): Promise<boolean> {
  const { db, clock, emitEvents, metrics, database } = context
  const found = 'found' in stored ? stored.found : { etag: etagOf(stored) }
  const again = findAgain(context, lease.fileId, { ...content, ...found })
  database?.recent.note('end', again)
  const record = async (tx: Db, object: Exclude<Stored, { whole: unknown }>) => {
    const marked =
      'found' in object
        ? await markFound(tx, lease, { ...content, ...object.found }, clock.now())
        : await markTransferred(tx, lease, object.delivered, clock.now())
    if (!marked) return false
    if ('also' in object) await object.also?.(tx)
    // For a final upload whose join succeeded without a response, this discards the pieces.
    if ('found' in object) await discardPartials(tx, lease.fileId, clock.now())
    await emitEvents(tx, lease.fileId)
    return true
  }
  // A database that has just taken over may refuse the statement, or go down before it responds.
  const doubt = () => database?.recent.doubt('end', again)
  const recording = span('ledger transferred', () =>
    'whole' in stored ? stored.whole() : db.transaction((tx) => record(tx, stored)),
  )
  const recorded = await recording.catch((error: unknown) => {
    doubt()
    throw error
  })
  if (!recorded) {
    doubt()
    return false
  }
  lease.forget()
  metrics.uploadsFinished.inc({
    status: 'found' in stored ? (stored.found.several?.status ?? 'transferred') : 'transferred',
  })
  return true
}

/**
 * Like `recordTransferred`, for a file with several destinations, whose statuses determine the file's status. Their
 * objects are already recorded. False if the lease was lost, or a destination is still pending.
 */
export async function recordSeveral(context: Ledger, lease: Freed): Promise<FoundAtEach['status'] | false> {
  const { db, clock, emitEvents, metrics, database } = context
  const { fileId } = lease
  const ended = await db.transaction(async (tx) => {
    const destinations = await lockDestinations(tx, lease)
    const status = destinations.length > 0 ? statusOf(destinations) : 'transferring'
    if (status !== 'transferred' && status !== 'partially_transferred') return undefined
    await recordDelivered(tx, lease, { status, certainty: destinations[0]!.certainty }, clock.now())
    await emitEvents(tx, fileId)
    return { status, destinations }
  })
  if (!ended) return false
  const { status, destinations } = ended
  const { lengthBytes, crc32 } = destinations[0]!
  const several = { status, destinations: destinations.map(foundAt) }
  database?.recent.note('end', findAgain(context, fileId, { lengthBytes, crc32, etag: null, several }))
  lease.forget()
  metrics.uploadsFinished.inc({ status })
  return status
}

/** The values to record again in a database that has lost the record of how the file ended. */
function foundAt({
  dataStoreId,
  status,
  etag,
  reason,
  detail,
}: DestinationRow): FoundAtEach['destinations'][number] {
  return { dataStoreId, status: status === 'transferred' ? status : 'failed', etag, reason, detail }
}

/**
 * Like `recordTransferred`, for an object copied to a destination that was missing it. The file had already ended. It
 * becomes transferred, with another event, once no destination is missing the object. False if the claim was lost.
 */
export async function recordCopied(
  { db, clock, emitRepaired }: Pick<UploadContext, 'db' | 'clock' | 'emitRepaired'>,
  repair: RepairClaim,
  stored: Stored,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const destinations = await recordRepaired(tx, repair, deliveredOf(stored), clock.now())
    if (!destinations) return false
    if (statusOf(destinations) !== 'transferred') return true
    await markRepaired(tx, repair.fileId)
    await emitRepaired(tx, repair.fileId)
    return true
  })
}

/** The outcome of a PutObject. */
export function deliveredByPut(
  bucket: Pick<Bucket, 'storageOf'>,
  { object }: Pick<Target, 'object'>,
  etag: string | null,
): Delivered {
  return { etag, certainty: etag === null ? 'inferred' : 'answered', storage: bucket.storageOf(object) }
}

export function deliveredOf(stored: Stored): Delivered {
  if ('delivered' in stored) return stored.delivered
  return { etag: etagOf(stored), certainty: 'confirmed' }
}

type Ledger = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'> &
  Partial<Pick<UploadContext, 'database'>>

const etagOf = (stored: Stored): string | null =>
  'found' in stored ? stored.found.etag : 'delivered' in stored ? stored.delivered.etag : stored.etag

/**
 * Records the object in a database that was promoted without the last commits and does not know that the object exists.
 * The returned function is kept for a minute or more, so it must not refer to the request: that would keep the
 * request's sockets and buffers in memory.
 */
function findAgain(
  { database: _, ...context }: Ledger,
  fileId: string,
  { lengthBytes, crc32, ...found }: Content & Extract<Stored, { found: unknown }>['found'],
): Redo {
  return async (db) => {
    const ledger = { ...context, db }
    const file = await currentOffset(db, fileId)
    if (!file) throw new Error(`${fileId} has no record yet.`)
    if (file.status !== 'uploading' && file.status !== 'transferring') return 'is there'
    const record = (lease: Lease) => recordTransferred(ledger, lease, { found }, { lengthBytes, crc32 })
    if (!(await withLease(ledger, fileId, record, takeForRepair)))
      throw new Error(`${fileId} is being written.`)
    return 'made again'
  }
}
