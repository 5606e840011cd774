import type { LookupAddress } from 'node:dns'
import { lookup, Resolver } from 'node:dns/promises'

/** All addresses of a host name, in the order to try them. */
export type ResolveHost = (hostname: string, trusted: boolean) => Promise<LookupAddress[]>

/** RFC 6761, 6.3 */
export const LOOPBACK_NAME = /^(.+\.)?localhost$/

const DNS_TRY_MS = 1500
const DNS_TRIES = 2
const MAX_ADDRESSES = 8

/**
 * Names that the operator vouches for go the system's way, hosts file and search domains included. A customer's
 * name goes to the name servers directly: the system's way holds one of four threads that files and
 * passwords share, so a few dead name servers would stop the whole process.
 */
export const resolveHost: ResolveHost = async (hostname, trusted) => {
  const name = LOOPBACK_NAME.test(hostname) ? 'localhost' : hostname
  if (trusted || name === 'localhost') return lookup(name, { all: true, order: 'ipv4first' })
  const resolver = new Resolver({ timeout: DNS_TRY_MS, tries: DNS_TRIES })
  const [ipv4, ipv6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const found = [
    ...(ipv4.status === 'fulfilled' ? ipv4.value.map((address) => ({ address, family: 4 })) : []),
    ...(ipv6.status === 'fulfilled' ? ipv6.value.map((address) => ({ address, family: 6 })) : []),
  ]
  if (found.length === 0 && ipv4.status === 'rejected') throw ipv4.reason
  return found.slice(0, MAX_ADDRESSES)
}
