import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionCut, type Exchange } from '#packages/local-bucket/exchange.ts'
import type { Operation, S3Request } from '#packages/local-bucket/request.ts'
import { Refusal } from '#packages/local-bucket/s3-error.ts'

/**
 * Failures that tests can inject into a bucket. A fault defines which call it affects, when during that call, and
 * what happens then. It is plain data, so it can be sent to another process.
 */
export interface Fault {
  operation: Operation | 'any'
  bucket?: string
  key?: string
  partNumber?: number
  /**
   * Affects `times` consecutive matching calls, starting with this one, counted from 1 when the fault is added. Both
   * default to 1.
   */
  call?: number
  times?: number
  /**
   * `request`, the default: before the body is read and anything is done. `body`: after `afterBytes` of the body have
   * been read, or after its first bytes. `answer`: when everything is done and stored, but before the response.
   */
  at?: Phase
  afterBytes?: number
  effect: Effect
}

export type Phase = 'request' | 'body' | 'answer'

export type Effect =
  /**
   * Responds with an error. With status 200, it is an error in a successful response, which CompleteMultipartUpload
   * can return.
   */
  | { kind: 'refuse'; status: number; code: string; message?: string }
  /** Closes the connection without a response. */
  | { kind: 'cut' }
  /** Never continues; the connection stays open. */
  | { kind: 'stall' }
  /** Continues when `release(gate)` is called. */
  | { kind: 'hold'; gate: string }
  /** Continues after a delay. */
  | { kind: 'delay'; delayMs: number }

export class Faults {
  #planned: { fault: Fault; calls: number }[] = []
  readonly #gates = new Map<string, PromiseWithResolvers<void>>()

  add(fault: Fault): void {
    this.#planned.push({ fault, calls: 0 })
  }

  /** Drops planned faults and releases blocked requests. */
  clear(): void {
    this.#planned = []
    for (const gate of this.#gates.values()) gate.resolve()
    this.#gates.clear()
  }

  /** Opens a gate for all current and future requests. */
  release(gate: string): void {
    this.#gate(gate).resolve()
  }

  /** Counts the request, and returns the faults that affect it. */
  strike(request: S3Request): Fault[] {
    const struck = this.#planned.filter((planned) => {
      if (!matches(planned.fault, request)) return false
      planned.calls += 1
      const { call = 1, times = 1 } = planned.fault
      return planned.calls >= call && planned.calls < call + times
    })
    return struck.map(({ fault }) => fault)
  }

  /** Resolves when the request may continue; never, for a stall. */
  async wait(effect: Extract<Effect, { kind: 'hold' | 'delay' | 'stall' }>): Promise<void> {
    if (effect.kind === 'hold') return this.#gate(effect.gate).promise
    if (effect.kind === 'delay') return delay(effect.delayMs)
    return new Promise(() => {})
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const gate = this.#gates.get(name) ?? Promise.withResolvers<void>()
    this.#gates.set(name, gate)
    return gate
  }
}

function matches(fault: Fault, { operation, bucket, key, query }: S3Request): boolean {
  return (
    (fault.operation === 'any' || fault.operation === operation) &&
    (fault.bucket === undefined || fault.bucket === bucket) &&
    (fault.key === undefined || fault.key === key) &&
    (fault.partNumber === undefined || String(fault.partNumber) === query.get('partNumber'))
  )
}

/** The faults that affect one request, each in its phase. */
export class Strikes {
  readonly #faults: Faults
  readonly #exchange: Exchange
  readonly #struck: readonly Fault[]

  constructor(faults: Faults, exchange: Exchange, request: S3Request) {
    this.#faults = faults
    this.#exchange = exchange
    this.#struck = faults.strike(request)
  }

  /** Returns when the request may continue; throws if it may not. */
  async at(phase: Exclude<Phase, 'body'>): Promise<void> {
    for (const { effect } of this.#of(phase)) await this.#inflict(effect)
  }

  body(): AsyncIterable<Buffer> {
    const striking = this.#of('body').sort((a, b) => startOf(a) - startOf(b))
    return striking.length > 0 ? this.#struckBody(striking) : this.#exchange.body()
  }

  async *#struckBody(pending: Fault[]): AsyncGenerator<Buffer> {
    let read = 0
    for await (const chunk of this.#exchange.body()) {
      yield chunk
      read += chunk.length
      while (pending[0] && read >= startOf(pending[0])) await this.#inflict(pending.shift()!.effect)
    }
    // If the body ends earlier, the fault occurs at its end.
    for (const { effect } of pending) await this.#inflict(effect)
  }

  async #inflict(effect: Effect): Promise<void> {
    if (effect.kind === 'refuse') throw new Refusal({ message: 'A fault was injected.', ...effect })
    if (effect.kind === 'cut') throw new ConnectionCut()
    await this.#exchange.whileConnected(this.#faults.wait(effect))
  }

  #of(phase: Phase): Fault[] {
    return this.#struck.filter(({ at = 'request' }) => at === phase)
  }
}

const startOf = ({ afterBytes = 1 }: Fault): number => afterBytes
