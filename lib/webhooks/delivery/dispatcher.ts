import type { Runtime } from '../../platform/runtime.ts'
import { span } from '../../platform/tracing/span.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { type Attempt, type Delivering, deliver } from './deliver.ts'
import { dropDeliveries } from './record.ts'
import { type Pace, PROMPT_MS, type Shares } from './shares.ts'

/** Says that an output has something due. Which deliveries, and whether it is still true, the rows know. */
export type Wake = { outputId: string; workspaceId: string }

/**
 * Turns wakes into attempts. It claims no more of an output than its share leaves room for; the rest stays due
 * in the database, and the output stays `ready` here until a claim finds less than it asked for.
 */
export type Dispatcher = {
  /** Answers at once; only while every place is taken it waits, so that another process may have the next jobs. */
  wake(wakes: Wake[]): Promise<void>
  /** Answers when nothing is ready that there is room for, and nothing under way. */
  idle(): Promise<void>
  stop(): Promise<void>
}

/** More outputs than this are not remembered; the sweep wakes them again. */
const MOST_READY = 20_000
const CLAIM_AT_ONCE = 100

type Wanted = Wake & { count: number }

export function createDispatcher(runtime: Pick<Runtime, 'db'> & Delivering, shares: Shares): Dispatcher {
  const { db, clock, log, checkpoint } = runtime
  const ready = new Map<string, string>()
  const underWay = new Set<Promise<void>>()
  let draining: Promise<void> | undefined
  let stopped = false

  function drain(): Promise<void> {
    draining ??= claimAll().finally(() => {
      draining = undefined
    })
    return draining
  }

  async function claimAll(): Promise<void> {
    for (let wanted = pick(); wanted.length > 0; wanted = pick()) {
      const askedAtMs = Date.now()
      const claimed = await claimDeliveries(db, wanted, clock.now()).catch((error) => {
        log.error({ err: error }, 'deliveries could not be claimed; the sweep finds them again')
        return undefined
      })
      for (const { outputId, workspaceId, count } of wanted) {
        const got = claimed?.filter((one) => one.outputId === outputId).length ?? 0
        shares.giveBack(outputId, workspaceId, count - got)
        if (got === count) ready.set(outputId, workspaceId)
      }
      for (const one of claimed ?? []) begin(one, askedAtMs)
      if (!claimed) return
    }
  }

  /** Takes the picked outputs out of `ready`, so that a wake during the claim is not lost and each has its turn. */
  function pick(): Wanted[] {
    const wanted: Wanted[] = []
    let left = stopped ? 0 : CLAIM_AT_ONCE
    for (const [outputId, workspaceId] of ready) {
      if (left === 0) break
      const count = Math.min(shares.room(outputId, workspaceId), left)
      if (count === 0) continue
      left -= count
      ready.delete(outputId)
      shares.take(outputId, workspaceId, count)
      wanted.push({ outputId, workspaceId, count })
    }
    return wanted
  }

  function begin(claimed: Claimed, askedAtMs: number): void {
    const attempt = traced(claimed, askedAtMs, attemptOne)
      .catch((error) =>
        log.error(
          { err: error, deliveryId: claimed.deliveryId },
          'an attempt was not recorded; it is made again',
        ),
      )
      .finally(() => {
        underWay.delete(attempt)
        void drain()
      })
    underWay.add(attempt)
  }

  async function attemptOne(claimed: Claimed): Promise<void> {
    const { outputId, workspaceId } = claimed
    const lagging = setTimeout(() => shares.lag(outputId), PROMPT_MS)
    let pace: Pace = 'dead'
    try {
      checkpoint('claimed')
      if (!mayBeSent(claimed)) {
        pace = 'prompt'
        await dropDeliveries(runtime, [claimed])
      } else pace = paceOf(await deliver(claimed, runtime))
    } finally {
      clearTimeout(lagging)
      shares.end(outputId, workspaceId, pace)
    }
  }

  async function settled(): Promise<void> {
    while (draining || underWay.size > 0) await Promise.all([draining, ...underWay])
  }
  return {
    async wake(wakes) {
      for (const { outputId, workspaceId } of wakes) {
        if (ready.size < MOST_READY) ready.set(outputId, workspaceId)
      }
      void drain()
      while (shares.full() && !stopped) await Promise.race(underWay)
    },
    idle: settled,
    stop() {
      stopped = true
      return settled()
    },
  }
}

/** As part of the trace of the request that it follows from; the receiver's own goes on from here. */
function traced(
  claimed: Claimed,
  startedAtMs: number,
  attempt: (claimed: Claimed) => Promise<void>,
): Promise<void> {
  const { deliveryId, eventId, attempt: number } = claimed
  const work = (traceparent = claimed.traceparent ?? undefined) => {
    void span('webhook claim', async () => {}, { parent: traceparent, startedAtMs })
    return attempt({ ...claimed, traceparent: traceparent ?? null })
  }
  return span('webhook', work, {
    ...{ parent: claimed.traceparent, kind: 'consumer', startedAtMs },
    attributes: () => ({
      ...{ 'sluice.delivery_id': deliveryId, 'sluice.event_id': eventId, 'sluice.attempt': number },
      'sluice.request_id': claimed.requestId ?? undefined,
    }),
  })
}

/** A test goes out even where the output is off: that is how a customer tries it before turning it on. */
function mayBeSent(claimed: Claimed): claimed is Attempt['claimed'] {
  return claimed.output !== null && (claimed.output.enabled || claimed.trigger === 'test')
}

function paceOf({ durationMs, outcome }: Attempt): Pace {
  if (durationMs <= PROMPT_MS) return 'prompt'
  return outcome.status === undefined ? 'dead' : 'late'
}
