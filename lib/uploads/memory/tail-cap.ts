import type { Db } from '../../platform/db/database.ts'
import { type Clock, seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import { tailsOfWorkspaces } from '../ledger/tails.ts'

/**
 * Tails stay in the operator's database until their bucket accepts them. A workspace whose buckets accept nothing may
 * create no more uploads once its tails reach its cap. Workspaces cost nothing where sign-up is open, so all of them
 * together have a cap as well. Open uploads may continue, since filling a part empties the tail.
 */
export type TailCap = {
  /** Throws if the workspace has no room. The sums are a few seconds old, so that no request waits for them. */
  assertRoom(workspaceId: string): void
  refresh(): Promise<void>
}

export type TailLimits = { workspaceBytes: number; allBytes: number }

/** Who has no room, and why. Where everybody is full, that includes those that have no tails at all. */
type Room = { everybodyFull: boolean; over: ReadonlyMap<string, 'cap' | 'share'> }

/** Of the cap of all. The rest is for those that have less than their share. */
const UNSHARED = 0.5
const REFRESH_MS = seconds(5)

export function createTailCap(
  { db, clock, log }: { db: Db; clock: Clock; log: Logger },
  limits: TailLimits,
): TailCap {
  let room: Room = { everybodyFull: false, over: new Map() }
  let refreshedMs = -Infinity
  let refreshing: Promise<void> | undefined

  const refresh = async () => {
    const fromBytes = Math.min(limits.workspaceBytes, limits.allBytes * UNSHARED)
    const before = room
    room = roomOf(await tailsOfWorkspaces(db, { fromBytes }), limits)
    if (room.everybodyFull && !before.everybodyFull)
      log.warn(limits, 'the database holds UPLOAD_TAIL_BYTES of unfinished uploads: new ones are refused')
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
      const reason = room.over.get(workspaceId) ?? (room.everybodyFull && 'all')
      if (reason) throw new SluiceError('unavailable', REFUSALS[reason], { headers: { 'Retry-After': '60' } })
    },
  }
}

const REFUSALS = {
  cap: 'This workspace has too many bytes waiting to be accepted by its buckets. Check its Data Stores.',
  share:
    'This server has many bytes of unfinished uploads, and this workspace has more than its share of them. Finish or cancel some of its uploads, or try again later.',
  all: 'This server has reached its limit for bytes of unfinished uploads. Try again later.',
}

/** Past half of what all may have, whoever has their part of that half or more takes no more, up to the whole. */
export function roomOf(
  tails: { workspaceId: string; bytes: number }[],
  { workspaceBytes, allBytes }: TailLimits,
): Room {
  const total = tails.reduce((sum, { bytes }) => sum + bytes, 0)
  const unsharedBytes = allBytes * UNSHARED
  const shareBytes = total >= unsharedBytes ? unsharedBytes / tails.length : Infinity
  const over = new Map<string, 'cap' | 'share'>()
  for (const { workspaceId, bytes } of tails) {
    if (bytes >= workspaceBytes) over.set(workspaceId, 'cap')
    else if (bytes >= shareBytes) over.set(workspaceId, 'share')
  }
  return { everybodyFull: total >= allBytes, over }
}
