const GROUPS = 8
const GROUPS_OF_NETWORK = 4

/**
 * What a limit for each address goes by. Of IPv6 a single customer holds a /64 at least, so more addresses than anybody
 * can count.
 */
export function networkOf(address: string): string {
  // IPv4, also where it stands within IPv6.
  if (!address.includes(':') || address.includes('.')) return address
  const [head, tail] = address.split('::').map((half) => half.split(':').filter(Boolean)) as [
    string[],
    string[]?,
  ]
  const between = tail ? Array(Math.max(0, GROUPS - head.length - tail.length)).fill('0') : []
  const groups = [...head, ...between, ...(tail ?? [])].slice(0, GROUPS_OF_NETWORK)
  return `${groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
