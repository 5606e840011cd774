import { randomBytes } from 'node:crypto'
import type { Reply } from '../../test/support/http-call.ts'
import { fileIdOf, type TusClient } from '../../test/support/tus-client.ts'

const BYTES = 200_000
const CUT = 100_000

export type SteadyLoad = ReturnType<typeof startLoad>

/**
 * Starts clients that each send one file after another, with a creation and two PATCH requests, each to the next node.
 * An unexpected response is a failure, and stops its client.
 */
export function startLoad(first: TusClient, clients: number) {
  let nodes = [first]
  const sent: { id: string; whole: Buffer }[] = []
  const failures: string[] = []
  const waiting = new Set<{ atLeast: number; resolve(): void }>()
  let longestMs = 0
  let isOver = false

  const tell = () => {
    for (const one of waiting) if (sent.length >= one.atLeast || failures.length > 0) one.resolve()
  }
  const timed = async (what: string, wanted: number, asked: Promise<Reply>): Promise<Reply> => {
    const sinceMs = performance.now()
    const reply = await asked
    longestMs = Math.max(longestMs, performance.now() - sinceMs)
    if (reply.status !== wanted) throw new Error(`${what} returned ${reply.status}: ${reply.body}`)
    return reply
  }
  const sendOne = async (pick: (by: number) => TusClient) => {
    const whole = randomBytes(BYTES)
    const { headers } = await timed('POST', 201, pick(0).create(whole.length))
    const id = fileIdOf(headers.location!)
    for (const [by, from, to] of [
      [1, 0, CUT],
      [2, CUT, BYTES],
    ] as const) {
      const node = pick(by)
      await timed('PATCH', 204, node.patch(`${node.collection}${id}`, from, whole.subarray(from, to)))
    }
    sent.push({ id, whole })
    tell()
  }
  const client = async (n: number) => {
    for (let round = 0; !isOver; round++) await sendOne((by) => nodes[(n + round + by) % nodes.length]!)
  }
  const working = Promise.all(
    Array.from({ length: clients }, (_, n) =>
      client(n).catch((error: unknown) => {
        failures.push(String(error))
        tell()
      }),
    ),
  )
  return {
    /** Makes clients send their next requests to these nodes. */
    goTo(chosen: TusClient[]): void {
      nodes = chosen
    },
    /** Resolves when this many more files have been sent, or when a request has failed. */
    async more(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      const one = { atLeast: sent.length + count, resolve }
      waiting.add(one)
      tell()
      await promise
      waiting.delete(one)
    },
    /** Returns the duration of the slowest request since the last call. */
    takeLongestMs(): number {
      const ms = longestMs
      longestMs = 0
      return ms
    },
    async end() {
      isOver = true
      await working
      return { sent, failures }
    },
  }
}
