import { notNow } from './kernel/errors.ts'
import { currentRequest } from './kernel/request-context.ts'
import { createPlaces } from './places.ts'
import { networkOf } from './rate-limits.ts'

/**
 * Decides whose work starts next when there is more than can run at once. An owner's work starts in order of arrival.
 * The owner with the least work running goes first, and of several, the one that has waited longest since its last
 * turn. An owner may only run as much as remains free, so that there is room for others even if its work is slow.
 */
export type Turns = {
  /**
   * Waits for a turn; the returned function ends it. Without an owner, the work is done for everyone, and never waits.
   * Rejects if the signal is aborted while it waits, or if too much work is waiting.
   */
  take(owner: string | undefined, signal?: AbortSignal): Promise<() => void>
}

type TurnLimits = {
  /** How much may run at once. */
  most: number
  /** How much may wait. If there is more, the owner with the most waiting loses its newest. */
  waiting: number
  waitingForEach: number
}

type Owner = { name: string; running: number; waiting: Set<() => void> }

export function createTurns({ most, waiting, waitingForEach }: TurnLimits): Turns {
  /** In the order in which their last turns ended. */
  const owners = new Map<string, Owner>()
  const places = createPlaces({ most: waiting, mostForEach: waitingForEach })
  let running = 0
  const mayStart = (owner: Owner) => owner.running < most - running
  const begin = (owner?: Owner) => {
    running += 1
    if (owner) owner.running += 1
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      running -= 1
      if (owner) {
        owner.running -= 1
        owners.delete(owner.name)
        keep(owner)
      }
      for (let next = nextOf(owners.values()); next && mayStart(next); next = nextOf(owners.values()))
        next.waiting.values().next().value!()
    }
  }
  const keep = (owner: Owner) => {
    if (owner.running + owner.waiting.size > 0) owners.set(owner.name, owner)
    else owners.delete(owner.name)
  }
  const wait = (owner: Owner, signal?: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      const place = places.take(owner.name, () => giveUp(tooMuch()))
      if ('refused' in place) return reject(tooMuch())
      const aborted = () => giveUp(signal!.reason)
      const stop = () => {
        owner.waiting.delete(start)
        place.leave()
        signal?.removeEventListener('abort', aborted)
      }
      const start = () => {
        stop()
        resolve(begin(owner))
      }
      const giveUp = (error: unknown) => {
        stop()
        keep(owner)
        reject(error)
      }
      owner.waiting.add(start)
      keep(owner)
      signal?.addEventListener('abort', aborted, { once: true })
    })
  return {
    async take(name, signal) {
      signal?.throwIfAborted()
      if (name === undefined) return begin()
      const owner = owners.get(name) ?? { name, running: 0, waiting: new Set() }
      if (owner.waiting.size > 0 || !mayStart(owner)) return wait(owner, signal)
      const end = begin(owner)
      keep(owner)
      return end
    },
  }
}

function nextOf(owners: Iterable<Owner>): Owner | undefined {
  let next: Owner | undefined
  for (const owner of owners)
    if (owner.waiting.size > 0 && owner.running < (next?.running ?? Infinity)) next = owner
  return next
}

const tooMuch = () => notNow('Too many requests are waiting. Try again in a moment.', { 'Retry-After': '2' })

/** Does work in its owner's turn. */
export async function inTurn<Result>(
  turns: Turns,
  owner: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = await turns.take(owner)
  return work().finally(end)
}

/** Whom the running code works for: the workspace or, until it is known, the client's network. */
export function currentOwner(): string | undefined {
  const request = currentRequest()
  return request?.notes.workspaceId ?? (request?.client && networkOf(request.client))
}
