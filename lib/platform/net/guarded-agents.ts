import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'
import { type AgentOptions, type ClientRequestArgs, Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import {
  type AllowedHosts,
  bareHost,
  isNamed,
  judgeConnection,
  LOOPBACK_NAME,
  readAllowedHosts,
  refused,
  type Target,
} from './judge-connection.ts'

/**
 * The only way to connect to an address given by a customer. Every connection is checked when it is made, using the
 * addresses it is about to use, so changing what a name resolves to after an earlier check gains nothing. Redirects are
 * not followed here.
 */
export type GuardedAgents = {
  http: HttpAgent
  https: HttpsAgent
}

export type GuardedAgentOptions = { agent?: AgentOptions; resolve?: ResolveHost }

type Connected = (error: Error | null, socket: Duplex) => void

/** How long to wait for a response from a host's first address before trying the second. */
const NEXT_ADDRESS_MS = 1000

export function createGuardedAgents(entries: string[], options: GuardedAgentOptions = {}): GuardedAgents {
  const allowed = readAllowedHosts(entries)
  const guard = createGuard(allowed, options.resolve ?? resolveHost)
  const settings: AgentOptions = {
    keepAlive: true,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    ...options.agent,
  }

  class GuardedHttpAgent extends HttpAgent {
    override createConnection(args: ClientRequestArgs, connected?: Connected): Duplex | null | undefined {
      return guard(args, false, connected!, (guarded) => super.createConnection(guarded))
    }
  }
  class GuardedHttpsAgent extends HttpsAgent {
    override createConnection(args: ClientRequestArgs, connected?: Connected): Duplex | null | undefined {
      return guard(args, true, connected!, (guarded) => super.createConnection(guarded))
    }
  }
  return { http: new GuardedHttpAgent(settings), https: new GuardedHttpsAgent(settings) }
}

function createGuard(allowed: AllowedHosts, resolve: ResolveHost) {
  return (
    args: ClientRequestArgs,
    secure: boolean,
    connected: Connected,
    connect: (args: ClientRequestArgs) => Duplex | null | undefined,
  ): Duplex | null | undefined => {
    try {
      if (args.socketPath) throw refused('Unix sockets are never allowed.')
      const hostname = bareHost(args.host ?? args.hostname ?? '')
      const target: Target = { hostname, port: Number(args.port ?? (secure ? 443 : 80)), secure }
      // Node does not call `lookup` for a literal address.
      if (isIP(hostname)) judgeConnection(target, hostname, allowed)
      return connect({ ...args, lookup: guardedLookup(target, allowed, resolve) })
    } catch (error) {
      connected(error as Error, undefined as never)
      return undefined
    }
  }
}

function guardedLookup(target: Target, allowed: AllowedHosts, resolve: ResolveHost): LookupFunction {
  return (_, { all }, done) => {
    const { hostname } = target
    const trusted = allowed.all || isNamed(target, allowed)
    const judged = resolve(hostname, trusted).then((addresses) => {
      // One refused address is enough to refuse the name: there is no good reason to mix such addresses with others.
      for (const { address } of addresses) judgeConnection(target, address, allowed)
      if (addresses.length > 0) return addresses
      throw Object.assign(new Error(`${hostname} does not resolve`), { code: 'ENOTFOUND' })
    })
    judged.then(
      (addresses) => (all ? done(null, addresses) : done(null, addresses[0]!.address, addresses[0]!.family)),
      (error) => done(error, ''),
    )
  }
}

/** Returns all addresses of a host name, in the order in which to try them. */
export type ResolveHost = (hostname: string, trusted: boolean) => Promise<LookupAddress[]>

const DNS_TRY_MS = 1500
const DNS_TRIES = 2
/** Queries the name servers, with a bound on how long that takes. */
export const openResolver = () => new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES })

const MAX_ADDRESSES = 8

/**
 * Names trusted by the operator are resolved by the system, including the hosts file and search domains. A customer's
 * name goes to the name servers directly: the system resolver occupies one of the four threads that file access and
 * password hashing also use, so a few dead name servers would stop the entire process.
 */
export const resolveHost: ResolveHost = async (hostname, trusted) => {
  const name = LOOPBACK_NAME.test(hostname) ? 'localhost' : hostname
  if (trusted || name === 'localhost') return lookup(name, { all: true, order: 'ipv4first' })
  const resolver = openResolver()
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = [
    ...(ipv4.status === 'fulfilled' ? ipv4.value.map((address) => ({ address, family: 4 })) : []),
    ...(ipv6.status === 'fulfilled' ? ipv6.value.map((address) => ({ address, family: 6 })) : []),
  ]
  if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return found.slice(0, MAX_ADDRESSES)
}
