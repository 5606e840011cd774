import type { Runtime } from '../runtime.ts'
import { networkOf, siteOf } from './network-of.ts'
import { type RateLimit, takeFromLimit } from './take.ts'

/** A whole site, which may be an office, has as much as so many networks of it. */
const NETWORKS_OF_SITE = 4

/** Takes one of what the network of an address may have, and of what all of its site may. */
export async function takeForAddress(
  runtime: Pick<Runtime, 'db' | 'clock'>,
  what: string,
  address: string,
  limit: RateLimit,
): Promise<void> {
  await takeFromLimit(runtime, `${what}:address:${networkOf(address)}`, limit)
  const site = siteOf(address)
  if (site === undefined) return
  const ofSite = { burst: limit.burst * NETWORKS_OF_SITE, refillMs: limit.refillMs / NETWORKS_OF_SITE }
  await takeFromLimit(runtime, `${what}:site:${site}`, ofSite)
}
