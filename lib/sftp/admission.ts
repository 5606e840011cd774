import type { Clock } from '../platform/kernel/clock.ts'
import { networkOf } from '../platform/rate-limits.ts'
import type { Refusal } from './refusals.ts'
import type { SftpTerms } from './terms.ts'

/** A connection that was admitted. */
export type Admitted = {
  signedIn(): void
  left(): void
}

type Bucket = { tokens: number; atMs: number }
type Rate = { burst: number; refillMs: number }
type Counts = { all: number; signingIn: number }

const MAX_NETWORKS = 10_000

/**
 * Decides whether to admit a connection, before anything is computed for it. Everything is in memory, since a flood
 * must not reach the database. Trusted proxy networks have no limit of their own: everyone connects through them.
 */
export class Admission {
  readonly #clock: Clock
  readonly #terms: SftpTerms
  readonly #all: Counts = { all: 0, signingIn: 0 }
  readonly #byNetwork = new Map<string, Counts>()
  readonly #exchanges: Bucket = { tokens: Infinity, atMs: 0 }
  readonly #exchangesByNetwork = new Map<string, Bucket>()

  constructor(clock: Clock, terms: SftpTerms) {
    this.#clock = clock
    this.#terms = terms
  }

  /** Returns why the connection is to be closed, if it is. */
  admit(address: string, { isProxy }: { isProxy: boolean }): Admitted | Refusal {
    const terms = this.#terms
    const network = isProxy ? undefined : networkOf(address)
    const own = (network && this.#byNetwork.get(network)) || { all: 0, signingIn: 0 }
    if (this.#all.all >= terms.connections) return 'connections'
    if (this.#all.signingIn >= terms.signingIn) return 'signing_in'
    if (own.all >= terms.connectionsPerNetwork) return 'connections_of_network'
    if (own.signingIn >= terms.signingInPerNetwork) return 'signing_in_of_network'
    if (network && !this.#takeOfNetwork(network)) return 'key_exchanges_of_network'
    if (!this.#take(this.#exchanges, terms.exchanges)) return 'key_exchanges'
    if (network) this.#byNetwork.set(network, own)
    return this.#count([this.#all, own], () => {
      if (network && own.all === 0) this.#byNetwork.delete(network)
    })
  }

  #count(counts: Counts[], left: () => void): Admitted {
    const add = (what: keyof Counts, by: 1 | -1) => {
      for (const one of counts) one[what] += by
    }
    let state: 'signing in' | 'signed in' | 'gone' = 'signing in'
    add('all', 1)
    add('signingIn', 1)
    return {
      signedIn() {
        if (state !== 'signing in') return
        state = 'signed in'
        add('signingIn', -1)
      },
      left() {
        if (state === 'gone') return
        if (state === 'signing in') add('signingIn', -1)
        state = 'gone'
        add('all', -1)
        left()
      },
    }
  }

  #takeOfNetwork(network: string): boolean {
    const bucket = this.#exchangesByNetwork.get(network) ?? { tokens: Infinity, atMs: 0 }
    // In order of last use, so that the first one has most likely filled up again.
    this.#exchangesByNetwork.delete(network)
    this.#exchangesByNetwork.set(network, bucket)
    if (this.#exchangesByNetwork.size > MAX_NETWORKS)
      this.#exchangesByNetwork.delete(this.#exchangesByNetwork.keys().next().value!)
    return this.#take(bucket, this.#terms.exchangesPerNetwork)
  }

  #take(bucket: Bucket, { burst, refillMs }: Rate): boolean {
    const nowMs = this.#clock.now()
    const refilled = Math.max(0, nowMs - bucket.atMs) / refillMs
    bucket.tokens = Math.min(burst, bucket.tokens + refilled)
    bucket.atMs = nowMs
    if (bucket.tokens < 1) return false
    bucket.tokens -= 1
    return true
  }
}
