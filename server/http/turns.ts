import type { AtOnce } from '../../lib/platform/http/routes.ts'
import { seconds } from '../../lib/platform/kernel/clock.ts'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'
import { atMost } from '../../lib/platform/kernel/waits.ts'

/** After this time, a request no longer counts: it is a long download, or it waits for something other than the CPU. */
const PATIENCE_MS = seconds(10)
const MOST_OF_CLIENT = 100

export type Turns = (client: string, work: () => Promise<void>) => Promise<void>

/**
 * Limits the requests handled at once, in total and for each client, so that a client with many requests delays its own
 * before those of others.
 */
export function createTurns({ most, forEach }: AtOnce): Turns {
  const ofAll = atMost(most, PATIENCE_MS)
  const clients = new Map<string, { ofOwn: typeof ofAll; requests: number }>()
  return async (client, work) => {
    const own = clients.get(client) ?? { ofOwn: atMost(forEach, PATIENCE_MS), requests: 0 }
    if (own.requests >= MOST_OF_CLIENT)
      throw new SluiceError('rate_limited', 'Too many requests from your address are waiting. Try again.', {
        headers: { 'Retry-After': '1' },
      })
    clients.set(client, own)
    own.requests += 1
    try {
      await own.ofOwn(() => ofAll(work))
    } finally {
      own.requests -= 1
      if (own.requests === 0) clients.delete(client)
    }
  }
}
