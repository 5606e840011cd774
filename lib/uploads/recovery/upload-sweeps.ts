import { type Kept, keepMonths } from '../../platform/db/months.ts'
import { days, minutes, seconds } from '../../platform/kernel/clock.ts'
import type { Sweep } from '../../platform/sweeps.ts'
import { countUncountedBytes } from '../../workspace/usage/count-uncounted-bytes.ts'
import { lapseReservations } from '../../workspace/usage/lapse-reservations.ts'
import { clearLeftovers } from '../endings/clear-leftovers.ts'
import { CLEARED_AT_ONCE } from '../ledger/claim-leftovers.ts'
import { LATE_AT_ONCE } from '../ledger/late-uploads.ts'
import type { UploadContext } from '../upload-context.ts'
import { endInterruptedUploads } from './end-interrupted-uploads.ts'
import { expireUploads } from './expire-uploads.ts'
import { reconcileUploads } from './reconcile.ts'

export function uploadSweeps(context: UploadContext): Sweep[] {
  return [
    { name: 'reconcile uploads', everyMs: seconds(2), run: () => reconcileUploads(context) },
    { name: 'end interrupted uploads', everyMs: seconds(15), run: () => endInterruptedUploads(context) },
    {
      name: 'expire uploads',
      everyMs: minutes(1),
      batch: LATE_AT_ONCE,
      run: () => expireUploads(context),
    },
    {
      name: 'abort multipart uploads',
      everyMs: minutes(1),
      batch: CLEARED_AT_ONCE,
      run: () => clearLeftovers(context),
    },
    { name: 'count bytes of dead requests', everyMs: seconds(30), run: () => countUncountedBytes(context) },
    { name: 'lapse reservations', everyMs: minutes(5), run: () => lapseReservations(context) },
    { name: 'months of timelines', everyMs: minutes(10), run: () => keepTimelines(context) },
  ]
}

export const TIMELINES: Kept = { tables: ['file_timeline'], keptMs: days(365) }

export const keepTimelines = ({ db, clock }: Pick<UploadContext, 'db' | 'clock'>): Promise<number> =>
  keepMonths(db, TIMELINES, clock.now())
