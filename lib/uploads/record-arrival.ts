import type { Db } from '../platform/db/database.ts'
import { span } from '../platform/tracing/span.ts'
import type { Lease } from './lease/held-lease.ts'
import type { Delivered } from './ledger/advance.ts'
import { markFound } from './ledger/mark-found.ts'
import { markTransferred } from './ledger/mark-transferred.ts'
import type { UploadContext } from './upload-context.ts'

/** How an object came to be there. */
export type Arrival =
  /** Made of what the ledger has; `also` is written with it. */
  | { delivered: Delivered; also?: (tx: Db) => Promise<void> }
  /** In the bucket already, whole, though the ledger may know only a part of its bytes. */
  | { found: { etag: string | null } }
  /** By a single PutObject of a request: those that arrive at the same time are recorded together, by this. */
  | { recordWhole: () => Promise<boolean> }

type Freed = Pick<Lease, 'fileId' | 'fence' | 'forget'>

/**
 * The only code that marks a file transferred. Its event is written in the same transaction, which frees the lease, too.
 * False if that was lost: nothing has changed then.
 */
export async function recordArrival(
  context: Pick<UploadContext, 'db' | 'clock' | 'announce' | 'metrics'>,
  lease: Freed,
  arrival: Arrival,
): Promise<boolean> {
  const recorded = await span('ledger arrival', () =>
    'recordWhole' in arrival ? arrival.recordWhole() : record(context, lease, arrival),
  )
  if (!recorded) return false
  lease.forget()
  context.metrics.uploadsFinished.inc({ status: 'transferred' })
  return true
}

function record(
  { db, clock, announce }: Pick<UploadContext, 'db' | 'clock' | 'announce'>,
  lease: Freed,
  arrival: Exclude<Arrival, { recordWhole: unknown }>,
): Promise<boolean> {
  return db.transaction(async (tx) => {
    const marked =
      'found' in arrival
        ? await markFound(tx, lease, arrival.found, clock.now())
        : await markTransferred(tx, lease, arrival.delivered, clock.now())
    if (!marked) return false
    if ('also' in arrival) await arrival.also?.(tx)
    await announce(tx, lease.fileId)
    return true
  })
}
