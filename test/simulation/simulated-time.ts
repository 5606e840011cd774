import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { randomOf } from '../support/random.ts'
import type { Host, Scheduler } from './scheduler.ts'

/** The node whose code is running. Outside of a node, as in the database client, time and timers are real. */
export const currentHost = new AsyncLocalStorage<Host>()

const real = { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval, clearImmediate }
const realSleep = timers.setTimeout
const realNow = Date.now
const realPerformanceNow = performance.now.bind(performance)
const realRandom = Math.random
const realSignalTimeout = AbortSignal.timeout.bind(AbortSignal)

let scheduler: Scheduler
let startedMs = 0
let randomness = randomOf('site')

/** Resolves when nothing is left to do before the next step: every promise that could continue has done so. */
export function idle(): Promise<void> {
  return new Promise((resolve) => void real.setImmediate(resolve))
}

/** Pauses in real time, even if a node's code is running. */
export function pauseReally(ms: number): Promise<void> {
  return new Promise((resolve) => void real.setTimeout(resolve, ms))
}

/** Makes nodes use this scheduler's clock, and takes randomness from this seed. */
export function simulateTime(by: Scheduler, seed: string): void {
  scheduler = by
  startedMs = by.nowMs
  randomness = randomOf(`${seed}/randomness`)
}

/** A timer with the methods that users of Node's timers expect. */
class SimulatedTimer {
  readonly #fire: () => void
  readonly #ms: number
  readonly #host: Host
  readonly #repeats: boolean
  #cancel: () => void = () => {}

  constructor(host: Host, fire: () => void, ms: number | undefined, { repeats }: { repeats: boolean }) {
    const inContext = AsyncLocalStorage.snapshot()
    this.#fire = () => inContext(fire)
    this.#host = host
    this.#ms = ms !== undefined && ms >= 1 && ms < 2 ** 31 ? ms : 1
    this.#repeats = repeats
    this.refresh()
  }

  refresh(): this {
    this.close()
    this.#cancel = scheduler.park({
      actor: this.#host.name,
      label: `timer of ${Math.round(this.#ms)} ms`,
      host: this.#host,
      dueMs: scheduler.nowMs + Math.ceil(this.#ms),
      quiet: true,
      run: () => {
        if (this.#repeats) this.refresh()
        this.#fire()
      },
    })
    return this
  }

  close(): void {
    this.#cancel()
  }

  ref = (): this => this
  unref = (): this => this
  hasRef = (): boolean => true
}

type Callback = (...args: unknown[]) => void

/**
 * Replaces this process's clock, timers and randomness for code that runs on a node; everything else keeps the real
 * ones.
 */
export function replaceTime(): void {
  const starts =
    (original: (...args: never[]) => unknown, repeats: boolean) =>
    (fire: Callback, ms?: number, ...args: unknown[]) => {
      const host = currentHost.getStore()
      if (!host) return (original as Callback)(fire, ms, ...args)
      return new SimulatedTimer(host, () => fire(...args), ms, { repeats })
    }
  const clears = (original: (timer: never) => void) => (timer: unknown) =>
    timer instanceof SimulatedTimer ? timer.close() : original(timer as never)
  const setSimulatedImmediate = (fire: Callback, ...args: unknown[]) => {
    const host = currentHost.getStore()
    return host
      ? new SimulatedTimer(host, () => fire(...args), 1, { repeats: false })
      : (real.setImmediate as Callback)(fire, ...args)
  }
  Object.assign(globalThis, {
    setTimeout: starts(real.setTimeout, false),
    setInterval: starts(real.setInterval, true),
    setImmediate: setSimulatedImmediate,
    clearTimeout: clears(real.clearTimeout),
    clearInterval: clears(real.clearInterval),
    clearImmediate: clears(real.clearImmediate as (timer: never) => void),
  })
  Date.now = () => {
    const host = currentHost.getStore()
    return host ? scheduler.nowMs + host.skewMs : realNow()
  }
  performance.now = () => (currentHost.getStore() ? scheduler.nowMs - startedMs : realPerformanceNow())
  AbortSignal.timeout = (ms) => {
    if (!currentHost.getStore()) return realSignalTimeout(ms)
    const late = new AbortController()
    setTimeout(() => late.abort(new DOMException('The operation timed out.', 'TimeoutError')), ms)
    return late.signal
  }
  replaceModules()
}

function replaceModules(): void {
  const sleep = (ms?: number, value?: unknown, options?: { signal?: AbortSignal }) => {
    if (!currentHost.getStore()) return realSleep(ms, value, options)
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timer = setTimeout(resolve, ms, value)
    const abort = () => {
      clearTimeout(timer)
      reject(new DOMException('The operation was aborted.', 'AbortError'))
    }
    if (options?.signal?.aborted) abort()
    options?.signal?.addEventListener('abort', abort, { once: true })
    return promise
  }
  Object.assign(timers, { setTimeout: sleep })
  Math.random = () => (currentHost.getStore() ? randomness.whole(0, 2 ** 30 - 1) / 2 ** 30 : realRandom())
  const bytes = (count: number) => Buffer.from(Array.from({ length: count }, () => randomness.whole(0, 255)))
  Object.assign(crypto, { randomBytes: bytes, randomUUID: () => uuidOf(bytes(16)) })
  syncBuiltinESMExports()
}

function uuidOf(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
