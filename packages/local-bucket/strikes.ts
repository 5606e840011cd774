import { ConnectionCut, type Exchange } from './exchange.ts'
import type { Effect, Fault, Faults, Phase } from './faults.ts'
import type { S3Request } from './request.ts'

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
