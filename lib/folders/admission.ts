import type { Clock } from '../platform/kernel/clock.ts'
import { networkOf } from '../platform/rate-limits.ts'
import type { Refusal } from './refusals.ts'
import type { FolderTerms } from './terms.ts'

/** A connection that was admitted. */
export type Admitted = {
  signedIn(): void
  left(): void
}

type Bucket = { tokens: number; atMs: number }
type Rate = { burst: number; refillMs: number }
type Counts = { all: number; signingIn: number }
/** The current usage of the limits that all known networks share, or that all unknown networks share. */
type Share = { signingIn: number; exchanges: Bucket }

const MAX_NETWORKS = 10_000

/**
 * Decides whether to admit a connection, before any CPU time is spent on it. All state is in memory, because a flood
 * must not reach the database. Known networks, from which someone has signed in, have as many sign-in places as all
 * other networks together, so that a flood of connections from other networks does not keep them out. The networks of
 * trusted proxies have no limits and are never known, because everyone connects through them.
 */
export class Admission {
  readonly #clock: Clock
  readonly #terms: FolderTerms
  readonly #strangers: Share = { signingIn: 0, exchanges: { tokens: Infinity, atMs: 0 } }
  readonly #known: Share = { signingIn: 0, exchanges: { tokens: Infinity, atMs: 0 } }
  /** The networks in order of their last sign-in. */
  readonly #knownNetworks = new Set<string>()
  readonly #byNetwork = new Map<string, Counts>()
  readonly #exchangesByNetwork = new Map<string, Bucket>()
  #all = 0

  constructor(clock: Clock, terms: FolderTerms) {
    this.#clock = clock
    this.#terms = terms
  }

  /** Admits a connection, or returns why it has to be closed. */
  admit(address: string, { isProxy }: { isProxy: boolean }): Admitted | Refusal {
    const terms = this.#terms
    const network = isProxy ? undefined : networkOf(address)
    const own = (network && this.#byNetwork.get(network)) || { all: 0, signingIn: 0 }
    const share = network && this.#knownNetworks.has(network) ? this.#known : this.#strangers
    if (this.#all >= terms.connections) return 'connections'
    if (share.signingIn >= terms.signingIn) return 'signing_in'
    if (own.all >= terms.connectionsPerNetwork) return 'connections_of_network'
    if (own.signingIn >= terms.signingInPerNetwork) return 'signing_in_of_network'
    if (network && !this.#takeOfNetwork(network)) return 'key_exchanges_of_network'
    if (!this.#take(share.exchanges, terms.exchanges)) return 'key_exchanges'
    if (network) this.#byNetwork.set(network, own)
    return this.#count(network, own, share)
  }

  #count(network: string | undefined, own: Counts, share: Share): Admitted {
    let state: 'signing in' | 'signed in' | 'gone' = 'signing in'
    this.#all += 1
    own.all += 1
    const countSigningIn = (by: 1 | -1) => {
      own.signingIn += by
      share.signingIn += by
    }
    countSigningIn(1)
    return {
      signedIn: () => {
        if (state !== 'signing in') return
        state = 'signed in'
        countSigningIn(-1)
        if (network) this.#know(network)
      },
      left: () => {
        if (state === 'gone') return
        if (state === 'signing in') countSigningIn(-1)
        state = 'gone'
        this.#all -= 1
        own.all -= 1
        if (network && own.all === 0) this.#byNetwork.delete(network)
      },
    }
  }

  #know(network: string): void {
    this.#knownNetworks.delete(network)
    this.#knownNetworks.add(network)
    if (this.#knownNetworks.size > MAX_NETWORKS)
      this.#knownNetworks.delete(this.#knownNetworks.values().next().value!)
  }

  #takeOfNetwork(network: string): boolean {
    const bucket = this.#exchangesByNetwork.get(network) ?? { tokens: Infinity, atMs: 0 }
    // The buckets are in order of their last use. If there are too many, the first one is dropped, because it has most
    // likely filled up again.
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
