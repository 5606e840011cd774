import type { Db } from '../platform/db/database.ts'
import { type Clock, seconds } from '../platform/kernel/clock.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import type { Logger } from '../platform/log/log.ts'
import { workspacesWithTails } from './ledger/workspaces-with-tails.ts'

/**
 * Tails stay in the operator's database until their bucket takes them. A workspace whose buckets take nothing may create no
 * more uploads once its tails reach the cap. Its open uploads continue: a part that is full leaves the database.
 */
export type TailCap = {
  /** Throws if the workspace has reached its cap, by a sum that is some seconds old: no request waits for it. */
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
        'Too many bytes of this workspace wait for its buckets to take them. Check its Data Stores.',
        { headers: { 'Retry-After': '60' } },
      )
    },
  }
}
