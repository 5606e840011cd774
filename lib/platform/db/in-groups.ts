import { runShared } from '../kernel/request-context.ts'
import { within } from '../kernel/waits.ts'
import { isOutage } from './faults.ts'

type Waiting<Item, Result> = {
  item: Item
  resolve(result: Result): void
  reject(error: unknown): void
}

type GroupOptions<Item> = {
  /** The largest number of requests in a group. */
  most: number
  keyOf?: (item: Item) => string
  /** For writes: how long a group waits for more requests under load. */
  gatherMs?: number
}

export const GATHER_WRITES_MS = 1
/** From this size on, a group shows that there is load: two clients in turn would only wait for each other. */
const LARGE_GROUP = 3
/** After this time without requests, there is no load any more. */
const FORGET_MS = 1000

/**
 * A group that takes longer may be using a dead connection, which can take minutes to detect, so the next group uses a
 * different one.
 */
const PATIENCE_MS = 2000

type Queue<Item, Result> = {
  waiting: Waiting<Item, Result>[]
  isRunning: boolean
  /** The size of the largest group since the queue was last empty, or before that. */
  largest: number
  forgetting?: NodeJS.Timeout
}

/**
 * Combines simultaneous database requests into one statement or transaction. If no group with the same key is running,
 * a group starts with the next turn of the event loop; requests that arrive while one is running form the next group. A
 * single request therefore hardly waits, and under load, many requests share one round trip, one lock and one commit.
 * With `gatherMs`, a group that would start with the next turn waits that long if the last ones were large, since
 * groups would otherwise remain small and follow each other from statement to statement. `run` returns results in the
 * order of its items. This is handwritten because no batching library continues past a hanging group.
 */
export function inGroups<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { most, keyOf = () => '', gatherMs = 0 }: GroupOptions<Item>,
): (item: Item) => Promise<Result> {
  const queues = new Map<string, Queue<Item, Result>>()
  const runGroup = async (group: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(group.map(({ item }) => item))
      for (const [at, { resolve }] of group.entries()) resolve(results[at]!)
    } catch (error) {
      // If the database rejects one item, the others must not be affected.
      if (group.length > 1 && !isOutage(error)) for (const one of group) await runGroup([one])
      else for (const { reject } of group) reject(error)
    }
  }
  const empty = async (key: string, queue: Queue<Item, Result>): Promise<void> => {
    const { waiting, largest } = queue
    const gathers = gatherMs > 0 && largest >= LARGE_GROUP
    // Requests that arrived together are read in one turn. Without this, the first of them would form its own group.
    await new Promise((resolve) => (gathers ? setTimeout(resolve, gatherMs) : setImmediate(resolve)))
    queue.largest = 0
    while (waiting.length > 0) {
      const group = waiting.splice(0, most)
      queue.largest = Math.max(queue.largest, group.length)
      await within(PATIENCE_MS, runGroup(group))
    }
    queue.isRunning = false
    if (gatherMs === 0 || queue.largest < LARGE_GROUP) queues.delete(key)
    else queue.forgetting = setTimeout(() => queues.delete(key), FORGET_MS).unref()
  }
  return (item) =>
    new Promise((resolve, reject) => {
      const key = keyOf(item)
      const queue = queues.get(key) ?? { waiting: [], isRunning: false, largest: 0 }
      queues.set(key, queue)
      queue.waiting.push({ item, resolve, reject })
      if (queue.isRunning) return
      queue.isRunning = true
      clearTimeout(queue.forgetting)
      void runShared(() => empty(key, queue))
    })
}
