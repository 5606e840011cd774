import { type CoreNode, openNode } from './core.ts'
import type { Exchange } from './exchange.ts'
import type { Host } from './scheduler.ts'
import { offHost, onHost, simulatedDatabase } from './simulated-database.ts'
import type { World } from './world.ts'

/** Messages from other nodes through the database. */
const NOTICES: Record<string, string> = {
  stop: 'is asked to release a lease',
  free: 'is told that a lease is free',
  missed: 'is told that it may have missed notifications',
}

/** How late a dead node's messages may arrive. Some arrive after other nodes have taken over its leases. */
const OUTLIVES_MS = [0, 500, 17_000, 40_000]

/** A place for a node: a process there can die and be started again. */
export class Node {
  host: Host
  core: CoreNode | undefined
  /** Client requests that are waiting for this node. */
  readonly exchanges = new Set<Pick<Exchange, 'break' | 'giveUp'>>()
  readonly #world: World
  readonly #place: string
  readonly #skewMs: number
  readonly #sweeping = new Set<string>()
  #starts = 0
  #death = Promise.withResolvers<void>()
  #listeners = new Map<string, (payload: string | null) => void>()
  #notices: (() => void)[] = []

  constructor(world: World, place: string, skewMs: number) {
    this.#world = world
    this.#place = place
    this.#skewMs = skewMs
    this.host = { name: place, state: 'dead', skewMs }
  }

  async start(): Promise<void> {
    const { site, gate, scheduler, adopted, habits, receiver } = this.#world
    const { quotaBytes, memoryBytes } = habits
    const imports = habits.plans.some(({ protocol }) => protocol === 'import')
    this.#starts += 1
    const host: Host = { name: `${this.#place}${this.#starts}`, state: 'up', skewMs: this.#skewMs }
    this.host = host
    this.#listeners = new Map()
    this.#notices = []
    this.#sweeping.clear()
    this.#death = Promise.withResolvers()
    const database = simulatedDatabase({
      host,
      gate,
      listen: async (channel, onMessage) => {
        await offHost(() => site.sessions.listen(channel))
        this.#listeners.set(channel, onMessage)
        return async () => void this.#listeners.delete(channel)
      },
    })
    const violated = (failure: Error) => this.#world.violated(failure)
    const ask = (...asked: Parameters<typeof receiver.ask>) => receiver.ask(...asked)
    this.core = await onHost(host, () =>
      openNode(site.runtime, database, {
        host,
        scheduler,
        quotaBytes,
        memoryBytes,
        site,
        imports,
        adopted,
        ask,
        violated,
      }),
    )
  }

  /** Runs `work` as this node's code. */
  on<Result>(work: () => Result): Result {
    return onHost(this.host, work)
  }

  /** Notifications arrive in the order in which they were sent. */
  notify({ channel, payload }: { channel: string; payload: string | null }): void {
    const onMessage = this.#listeners.get(channel)
    if (!onMessage || this.host.state === 'dead') return
    this.#notices.push(() => onMessage(payload))
    const run = () => this.on(() => this.#notices.shift()?.())
    const label = NOTICES[payload?.split(':')[0] ?? 'missed'] ?? `is told ${payload}`
    this.#world.scheduler.park({ actor: this.host.name, label, host: this.host, run })
  }

  /** Simulates a notification connection that was lost and is restored. */
  missNotices(): void {
    this.#notices = []
    for (const channel of this.#listeners.keys()) this.notify({ channel, payload: null })
  }

  /** Runs a sweep, one of each kind at a time, as on a real node. Also ends if the node dies. */
  async sweep(name: string): Promise<void> {
    const sweep = this.core?.sweeps.find((one) => one.name === name)
    if (!sweep || this.#sweeping.has(name)) return
    const { host } = this
    this.#sweeping.add(name)
    const swept = this.on(() => sweep.run()).catch(() => {})
    await this.outlives(swept)
    if (this.host === host) this.#sweeping.delete(name)
  }

  /** Resolves to false if the node dies before this work is done. */
  outlives(work: Promise<unknown>): Promise<boolean> {
    return Promise.race([work.then(() => true), this.#death.promise.then(() => false)])
  }

  get isSweeping(): boolean {
    return this.#sweeping.size > 0
  }

  get sweeps(): string[] {
    return this.core?.sweeps.map(({ name }) => name) ?? []
  }

  /** Kills the node. None of its pending steps happen, but messages that it has sent may still arrive. */
  async kill(): Promise<void> {
    const { scheduler, choices, gate } = this.#world
    const { host } = this
    host.state = 'dead'
    for (const step of scheduler.stepsOf(host)) {
      scheduler.take(step)
      if (!step.mayOutlive || !choices.percent(50)) continue
      const dueMs = scheduler.nowMs + choices.pick(OUTLIVES_MS)
      scheduler.park({ ...step, host: undefined, dueMs })
    }
    this.core = undefined
    this.#death.resolve()
    for (const exchange of [...this.exchanges]) exchange.break()
    await gate.kill(host)
  }

  async drain(): Promise<void> {
    const { host, core } = this
    await this.on(() => core!.drain())
    await this.#world.scheduler.parked({ actor: host.name, label: 'stops', host }, () => this.kill())
  }
}
