import type { Db } from '../../platform/db/database.ts'
import { span } from '../../platform/tracing/span.ts'
import type { Bucket, Target } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { markRepaired, type RepairClaim, recordRepaired } from '../ledger/destination-repairs.ts'
import { type DestinationRow, lockDestinations, recordDelivered } from '../ledger/destinations.ts'
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
  const { db, clock, emitEvents, metrics } = context
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
  const recorded = await span('ledger transferred', () =>
    'whole' in stored ? stored.whole() : db.transaction((tx) => record(tx, stored)),
  )
  if (!recorded) return false
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
  const { db, clock, emitEvents, metrics } = context
  const status = await db.transaction(async (tx) => {
    const destinations = await lockDestinations(tx, lease)
    const status = destinations.length > 0 ? statusOf(destinations) : 'transferring'
    if (status !== 'transferred' && status !== 'partially_transferred') return undefined
    await recordDelivered(tx, lease, { status, certainty: destinations[0]!.certainty }, clock.now())
    await emitEvents(tx, lease.fileId)
    return status
  })
  if (!status) return false
  lease.forget()
  metrics.uploadsFinished.inc({ status })
  return status
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

type Ledger = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>

const etagOf = (stored: Stored): string | null =>
  'found' in stored ? stored.found.etag : 'delivered' in stored ? stored.delivered.etag : stored.etag
