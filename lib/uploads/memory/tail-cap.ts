import type { Db } from '../../platform/db/database.ts'
import { type Clock, seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import { workspacesWithTails } from '../ledger/tails.ts'

/**
 * Tails stay in the operator's database until their bucket accepts them. A workspace whose buckets accept nothing may
 * create no more uploads once its tails reach the cap. Its open uploads may continue, since filling a part empties the
 * tail.
 */
export type TailCap = {
  /** Throws if the workspace has reached its cap. The sum is a few seconds old, so that no request waits for it. */
  assertRoom(workspaceId: string): void
  refresh(): Promise<void>
}

const REFRESH_MS = seconds(5)

export function createTailCap(
  { db, clock, log }: { db: Db; clock: Clock; log: Logger },
  workspaceBytes: number,
): TailCap {
  let capped: ReadonlySet<string> = new Set()
  let refreshedMs = -Infinity
  let refreshing: Promise<void> | undefined

  const refresh = async () => {
    capped = new Set(await workspacesWithTails(db, workspaceBytes))
  }
  const refreshOnce = () => {
    refreshedMs = clock.now()
    refreshing ??= refresh().finally(() => {
      refreshing = undefined
    })
    return refreshing
  }
  return {
    refresh: refreshOnce,
    assertRoom(workspaceId) {
      if (Math.abs(clock.now() - refreshedMs) >= REFRESH_MS)
        refreshOnce().catch((err) => log.warn({ err }, 'could not sum buffered bytes per workspace'))
      if (!capped.has(workspaceId)) return
      throw new SluiceError(
        'unavailable',
        'This workspace has too many bytes waiting for its buckets to accept them. Check its Data Stores.',
        { headers: { 'Retry-After': '60' } },
      )
    },
  }
}
