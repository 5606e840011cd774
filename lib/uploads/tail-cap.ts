import type { Db } from '../platform/db/database.ts'
import { type Clock, seconds } from '../platform/kernel/clock.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import type { Logger } from '../platform/log/log.ts'
import { workspacesWithTails } from './ledger/workspaces-with-tails.ts'

/**
 * Tails lie in the operator's database until their bucket takes them. A workspace whose buckets take nothing begins no
 * more of them beyond its cap; what it has begun may go on, since a part that is full leaves the database.
 */
export type TailCap = {
  /** Throws where the workspace has reached its cap, as it stood some seconds ago: no request waits for the sum. */
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
        refreshOnce().catch((err) => log.warn({ err }, 'the tails of workspaces could not be counted'))
      if (!capped.has(workspaceId)) return
      throw new SluiceError(
        'unavailable',
        'Too many bytes of this workspace wait for its buckets to take them. Check its Data Stores.',
        { headers: { 'Retry-After': '60' } },
      )
    },
  }
}
