import { setTimeout as pause } from 'node:timers/promises'
import { createGuardedAgents } from '../../platform/net/guarded-agents.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { span } from '../../platform/tracing/span.ts'
import { webhookHosts } from '../outputs/save-output.ts'
import { type Claimed, claimDeliveries } from './claim.ts'
import { type Attempt, type Checkpoint, type Delivering, deliver, KEPT_MS, POST_LIMITS } from './deliver.ts'
import { createRecorder, dropDeliveries, recordAttempts } from './record.ts'
import { type Pace, PROMPT_MS, Shares } from './shares.ts'

/** How many jobs are fetched from the queue at a time. */
const WAKES_AT_ONCE = 200
/**
 * The pause between two fetches. The first of several events is sent immediately; those that follow within this time
 * share a fetch, a claim and a record.
 */
const GATHER_WAKES_MS = 20

/** Sends webhooks as their jobs become due, until it is stopped. */
export async function startWebhookWorker(
  runtime: Runtime,
  checkpoint: Checkpoint = () => {},
): Promise<{ stop(): Promise<void> }> {
  const { config, queue } = runtime
  const agents = createGuardedAgents(webhookHosts(config), { agent: { timeout: KEPT_MS } })
  const record = createRecorder((made: Attempt[]) => {
    checkpoint('recording')
    return recordAttempts(runtime, made)
  })
  const parts = { ...runtime, agents, limits: POST_LIMITS, random: Math.random, record, checkpoint }
  const dispatcher = new Dispatcher(parts, new Shares())
  await queue.workBatches<Wake>('webhook-attempt', WAKES_AT_ONCE, async (wakes) => {
    await dispatcher.wake(wakes)
    await pause(GATHER_WAKES_MS)
  })
  return {
    async stop() {
      await dispatcher.stop()
      agents.http.destroy()
      agents.https.destroy()
    },
  }
}

/** A hint that an output may have deliveries due. Only the database knows whether it does, and which are due. */
export type Wake = { outputId: string; workspaceId: string }

/** Outputs beyond this number are not remembered; the sweep wakes them again. */
const MAX_READY = 20_000
const CLAIM_AT_ONCE = 100

type Wanted = Wake & { count: number }

/**
 * Turns wakes into attempts. It claims no more of an output's deliveries than the output's share allows. The others stay due
 * in the database, and the output stays ready here until a claim finds fewer deliveries than it requested.
 */
export class Dispatcher {
  readonly #runtime: Pick<Runtime, 'db'> & Delivering
  readonly #shares: Shares
  /** The workspace of each output that may have deliveries due. */
  readonly #ready = new Map<string, string>()
  readonly #underWay = new Set<Promise<void>>()
  #claiming: Promise<void> | undefined
  #isStopped = false

  constructor(runtime: Pick<Runtime, 'db'> & Delivering, shares: Shares) {
    this.#runtime = runtime
    this.#shares = shares
  }

  /** Returns immediately, unless every place is taken: it then waits, so that another process gets the next jobs. */
  async wake(wakes: Wake[]): Promise<void> {
    for (const { outputId, workspaceId } of wakes) {
      if (this.#ready.size < MAX_READY) this.#ready.set(outputId, workspaceId)
    }
    this.#claim()
    while (this.#shares.full() && !this.#isStopped) await Promise.race(this.#underWay)
  }

  /** Resolves when nothing is in progress and nothing else can start. */
  async idle(): Promise<void> {
    while (this.#claiming || this.#underWay.size > 0) await Promise.all([this.#claiming, ...this.#underWay])
  }

  stop(): Promise<void> {
    this.#isStopped = true
    return this.idle()
  }

  #claim(): void {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined
    })
  }

  async #claimAll(): Promise<void> {
    const { db, clock, log } = this.#runtime
    for (let wanted = this.#pick(); wanted.length > 0; wanted = this.#pick()) {
      const askedAtMs = Date.now()
      const claimed = await claimDeliveries(db, wanted, clock.now()).catch((error) => {
        log.error({ err: error }, 'could not claim deliveries; the sweep will find them')
        return undefined
      })
      for (const { outputId, workspaceId, count } of wanted) {
        const got = claimed?.filter((one) => one.outputId === outputId).length ?? 0
        this.#shares.giveBack(outputId, workspaceId, count - got)
        if (got === count) this.#ready.set(outputId, workspaceId)
      }
      for (const one of claimed ?? []) this.#begin(one, askedAtMs)
      if (!claimed) return
    }
  }

  /**
   * Removes the picked outputs from `#ready`, so that a wake during the claim is not lost and every output gets its
   * turn.
   */
  #pick(): Wanted[] {
    const wanted: Wanted[] = []
    let left = this.#isStopped ? 0 : CLAIM_AT_ONCE
    for (const [outputId, workspaceId] of this.#ready) {
      if (left === 0) break
      const count = Math.min(this.#shares.room(outputId, workspaceId), left)
      if (count === 0) continue
      left -= count
      this.#ready.delete(outputId)
      this.#shares.take(outputId, workspaceId, count)
      wanted.push({ outputId, workspaceId, count })
    }
    return wanted
  }

  #begin(claimed: Claimed, askedAtMs: number): void {
    const { deliveryId } = claimed
    const attempt = traced(claimed, askedAtMs, (one) => this.#attempt(one))
      .catch((err) =>
        this.#runtime.log.error({ err, deliveryId }, 'could not record an attempt; it will be repeated'),
      )
      .finally(() => {
        this.#underWay.delete(attempt)
        this.#claim()
      })
    this.#underWay.add(attempt)
  }

  async #attempt(claimed: Claimed): Promise<void> {
    const { outputId, workspaceId } = claimed
    const lagging = setTimeout(() => this.#shares.lag(outputId), PROMPT_MS)
    let pace: Pace = 'dead'
    try {
      this.#runtime.checkpoint('claimed')
      if (!mayBeSent(claimed)) {
        pace = 'prompt'
        await dropDeliveries(this.#runtime, [claimed])
      } else pace = paceOf(await deliver(claimed, this.#runtime))
    } finally {
      clearTimeout(lagging)
      this.#shares.end(outputId, workspaceId, pace)
    }
  }
}

/** Runs the attempt in the trace of the request that caused the event. The receiver can continue that trace. */
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
    parent: claimed.traceparent,
    kind: 'consumer',
    startedAtMs,
    attributes: () => ({
      'sluice.delivery_id': deliveryId,
      'sluice.event_id': eventId,
      'sluice.attempt': number,
      'sluice.request_id': claimed.requestId ?? undefined,
    }),
  })
}

/** A test event is sent even if the output is off, so that a customer can try an output before turning it on. */
function mayBeSent(claimed: Claimed): claimed is Attempt['claimed'] {
  return claimed.output !== null && (claimed.output.enabled || claimed.trigger === 'test')
}

function paceOf({ durationMs, outcome }: Attempt): Pace {
  if (durationMs <= PROMPT_MS) return 'prompt'
  return outcome.status === undefined ? 'dead' : 'late'
}
