import { setTimeout as delay } from 'node:timers/promises'
import { ConnectionCut, type Exchange } from './exchange.ts'
import type { Operation, S3Request } from './request.ts'

/**
 * What a bucket can be told to do wrong, in tests. A fault says which call it strikes, when in that call, and
 * what happens then. It is plain data, so it can be sent to another process.
 */
export interface Fault {
  operation: Operation | 'any'
  bucket?: string
  key?: string
  partNumber?: number
  /** The k-th matching call from now on, counted from 1, and how many calls in a row from there. Both 1 if not given. */
  call?: number
  times?: number
  /**
   * `request`: before the body is read, nothing is done (the default). `body`: when `afterBytes` of it have been
   * read, or else the first of them. `answer`: when all is done and stored, but before the answer.
   */
  at?: Phase
  afterBytes?: number
  effect: Effect
}

export type Phase = 'request' | 'body' | 'answer'

export type Effect =
  /** Answers with an error; with status 200 it is an error inside a success, as CompleteMultipartUpload can give. */
  | { kind: 'refuse'; status: number; code: string; message?: string }
  /** Ends the connection without a word. */
  | { kind: 'cut' }
  /** Never goes on; the connection stays open. */
  | { kind: 'stall' }
  /** Goes on when `release(gate)` is called. */
  | { kind: 'hold'; gate: string }
  /** Goes on after a time. */
  | { kind: 'delay'; delayMs: number }

export class Faults {
  #planned: { fault: Fault; calls: number }[] = []
  readonly #gates = new Map<string, PromiseWithResolvers<void>>()

  add(fault: Fault): void {
    this.#planned.push({ fault, calls: 0 })
  }

  /** Forgets what is planned and lets go what is held. */
  clear(): void {
    this.#planned = []
    for (const gate of this.#gates.values()) gate.resolve()
    this.#gates.clear()
  }

  /** Opens a gate for all that wait at it or will. */
  release(gate: string): void {
    this.#gate(gate).resolve()
  }

  /** Counts the request, and tells which faults strike it. */
  strike(request: S3Request): Fault[] {
    const struck = this.#planned.filter((planned) => {
      if (!matches(planned.fault, request)) return false
      planned.calls += 1
      const { call = 1, times = 1 } = planned.fault
      return planned.calls >= call && planned.calls < call + times
    })
    return struck.map(({ fault }) => fault)
  }

  /** Resolves when the request may go on; never, for a stall. */
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

/** A refusal that a fault asked for. */
export class InjectedRefusal extends Error {
  override readonly name = 'InjectedRefusal'
  readonly status: number
  readonly code: string
  readonly facts = {}

  constructor({ status, code, message }: Extract<Effect, { kind: 'refuse' }>) {
    super(message ?? 'A fault was injected.')
    this.status = status
    this.code = code
  }
}

/** The faults that strike one request, each at its time. */
export class Strikes {
  readonly #faults: Faults
  readonly #exchange: Exchange
  readonly #struck: readonly Fault[]

  constructor(faults: Faults, exchange: Exchange, request: S3Request) {
    this.#faults = faults
    this.#exchange = exchange
    this.#struck = faults.strike(request)
  }

  /** Returns when the request may go on; throws where it may not. */
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
    // A body that ends before is struck at its end.
    for (const { effect } of pending) await this.#inflict(effect)
  }

  async #inflict(effect: Effect): Promise<void> {
    if (effect.kind === 'refuse') throw new InjectedRefusal(effect)
    if (effect.kind === 'cut') throw new ConnectionCut()
    await this.#exchange.whileConnected(this.#faults.wait(effect))
  }

  #of(phase: Phase): Fault[] {
    return this.#struck.filter(({ at = 'request' }) => at === phase)
  }
}

const startOf = ({ afterBytes = 1 }: Fault): number => afterBytes
