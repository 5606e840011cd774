import type { Db } from '../../platform/db/database.ts'
import { type Clock, seconds } from '../../platform/kernel/clock.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Logger } from '../../platform/log/log.ts'
import { tailsOfWorkspaces } from './tail-rows.ts'

/**
 * Tails stay in the operator's database until their bucket accepts them. If a workspace's buckets accept nothing, it
 * may create no more uploads once its tails reach its cap. With open sign-up, anyone can create more workspaces, so
 * there is also a cap on the tails of all workspaces together. Open uploads may continue, because filling a part
 * empties the tail.
 */
export type TailCap = {
  /**
   * Throws if the workspace may have no more tails. The sums are a few seconds old, so that no request waits for them.
   */
  assertRoom(workspaceId: string): void
  refresh(): Promise<void>
}

type TailLimits = { workspaceBytes: number; allBytes: number }

/**
 * The workspaces that may have no more tails, each with the reason. If the common cap is reached, this includes
 * workspaces without any tails.
 */
type Room = { everybodyFull: boolean; over: ReadonlyMap<string, 'cap' | 'share'> }

/**
 * The share of the common cap that any workspace may use. The rest is for workspaces that hold less than their share.
 */
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
      log.warn(
        limits,
        'the database holds UPLOAD_TAIL_BYTES of unfinished uploads, so new uploads are refused',
      )
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
    'This server holds many bytes of unfinished uploads, and this workspace has more than its share of them. Finish or cancel some of its uploads, or try again later.',
  all: 'This server has reached its limit for the data of unfinished uploads. Try again later.',
}

/**
 * Once half of the common cap is used, workspaces that have used up their share of that half may have no more tails.
 */
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
