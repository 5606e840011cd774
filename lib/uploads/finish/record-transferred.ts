import type { Db } from '../../platform/db/database.ts'
import { span } from '../../platform/tracing/span.ts'
import type { Lease } from '../lease/held-lease.ts'
import { discardPartials } from '../ledger/partials.ts'
import { type Delivered, markFound, markTransferred } from '../ledger/transferred.ts'
import type { UploadContext } from '../upload-context.ts'

/** How an object got into the bucket. */
export type Stored =
  /** Made of the parts and tail in the ledger; `also` runs in the same transaction. */
  | { delivered: Delivered; also?: (tx: Db) => Promise<void> }
  /** Found complete in the bucket, even if the ledger knows only some of its bytes. */
  | { found: { etag: string | null } }
  /** Stored by a single PutObject; `whole` records it together with others that finish at the same time. */
  | { whole: () => Promise<boolean> }

type Freed = Pick<Lease, 'fileId' | 'fence' | 'claim' | 'forget'>

/**
 * The only code that marks a file transferred. The same transaction writes its event and releases the lease. False if
 * the lease was lost: nothing has changed then.
 */
export async function recordTransferred(
  { db, clock, emitEvents, metrics }: Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'>,
  lease: Freed,
  stored: Stored,
): Promise<boolean> {
  const record = async (tx: Db, object: Exclude<Stored, { whole: unknown }>) => {
    const marked =
      'found' in object
        ? await markFound(tx, lease, object.found, clock.now())
        : await markTransferred(tx, lease, object.delivered, clock.now())
    if (!marked) return false
    if ('also' in object) await object.also?.(tx)
    // The pieces of a final upload, if its join succeeded without a response.
    if ('found' in object) await discardPartials(tx, lease.fileId, clock.now())
    await emitEvents(tx, lease.fileId)
    return true
  }
  const recorded = await span('ledger transferred', () =>
    'whole' in stored ? stored.whole() : db.transaction((tx) => record(tx, stored)),
  )
  if (!recorded) return false
  lease.forget()
  metrics.uploadsFinished.inc({ status: 'transferred' })
  return true
}
