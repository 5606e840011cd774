const GROUPS = 8

/**
 * What a limit for each address goes by. Of IPv6 a single customer holds a /64 at least, so more addresses than anybody
 * can count.
 */
export function networkOf(address: string): string {
  return isIpv4(address) ? address : prefixOf(address, 64)
}

/** What a site is given, so 65,536 of those networks; of IPv4 nothing. */
export function siteOf(address: string): string | undefined {
  return isIpv4(address) ? undefined : prefixOf(address, 48)
}

/** Also where it stands within IPv6. */
const isIpv4 = (address: string) => !address.includes(':') || address.includes('.')

function prefixOf(address: string, bits: 48 | 64): string {
  const [head, tail] = address.split('::').map((half) => half.split(':').filter(Boolean)) as [
    string[],
    string[]?,
  ]
  const between = tail ? Array(Math.max(0, GROUPS - head.length - tail.length)).fill('0') : []
  const groups = [...head, ...between, ...(tail ?? [])].slice(0, bits / 16)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/${bits}`
}
