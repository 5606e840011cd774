import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net'
import { SluiceError } from '../kernel/errors.ts'

/** ALLOWED_PRIVATE_HOSTS, parsed: `host:port` names, and whether `*` allows all loopback and private addresses. */
export type AllowedHosts = { all: boolean; named: ReadonlySet<string> }

export function readAllowedHosts(entries: string[]): AllowedHosts {
  return {
    all: entries.includes('*'),
    named: new Set(entries.map((entry) => entry.toLowerCase())),
  }
}

/** RFC 6761, 6.3 */
export const LOOPBACK_NAME = /^(.+\.)?localhost$/

export type Target = { hostname: string; port: number; secure: boolean }

/** The host without the brackets and the final dot that an address may contain. */
export function bareHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}

export function isNamed({ hostname, port }: Target, allowed: AllowedHosts): boolean {
  const host = bareHost(hostname)
  return allowed.named.has(`${host}:${port}`) || (isIP(host) === 6 && allowed.named.has(`[${host}]:${port}`))
}

/**
 * Throws unless Sluice may connect to `address` for this target. The resolved address only appears in Sluice's log,
 * because it would reveal Sluice's network to a customer.
 */
export function judgeConnection(target: Target, address: string, allowed: AllowedHosts): void {
  const kind = addressKind(address)
  const what = bareHost(target.hostname)
  const refuse = (detail: string) => refused(detail, `${what} is ${address}`)
  if (kind === 'never') throw refuse(`${what} is reserved and never allowed.`)
  if (isNamed(target, allowed)) return
  if (kind === 'local' && allowed.all) return
  if (kind !== 'public')
    throw refuse(
      `${what} is not on the public internet. The operator can allow it with ALLOWED_PRIVATE_HOSTS.`,
    )
  if (!target.secure) throw refuse(`${what} must use https, not plain http.`)
}

export function refused(detail: string, cause?: string): SluiceError {
  return new SluiceError('address_not_allowed', detail, { cause })
}

/**
 * Throws `address_not_allowed` if the address alone shows that it would be refused. This only gives forms early
 * feedback: what keeps Sluice safe is the check of each connection.
 */
export function assertAllowedUrl(text: string, entries: string[]): void {
  const allowed = readAllowedHosts(entries)
  if (!/^\s*https?:/i.test(text))
    throw refused(`The address must start with https://${mayBeHttp(text, entries) ? ' or http://' : ''}.`)
  const url = URL.parse(text)
  if (!url) throw refused('This is not a valid address. An address looks like https://host/path.')
  if (url.username || url.password) throw refused('Leave the user name and password out of the address.')
  const secure = url.protocol === 'https:'
  const hostname = bareHost(url.hostname)
  const target = { hostname, port: Number(url.port || (secure ? 443 : 80)), secure }
  const literal = isIP(hostname) ? hostname : LOOPBACK_NAME.test(hostname) ? '127.0.0.1' : undefined
  if (literal) judgeConnection(target, literal, allowed)
  if (secure || literal || allowed.all || isNamed(target, allowed)) return
  throw refused(`${url.host} must use https, not plain http.`)
}

function mayBeHttp(withoutScheme: string, entries: string[]): boolean {
  try {
    assertAllowedUrl(`http://${withoutScheme}`, entries)
    return true
  } catch {
    return false
  }
}

const PRIVATE_NAME = /^[^.]+$|\.(localhost|local|internal|lan|home\.arpa|test|invalid)$/

/** Whether an address looks like one on the public internet. Only a connection shows whether it is one. */
export function isOnInternet(address: string): boolean {
  const host = bareHost(new URL(address).hostname)
  return isIP(host) ? addressKind(host) === 'public' : !PRIVATE_NAME.test(host)
}

/**
 * How the guard classifies an IP address. `local` can be allowed by name or by `*`; `shared` (carrier-grade NAT) only
 * by name. `never` cannot be allowed: metadata services and all of link-local, where clouds put them, multicast,
 * unspecified, reserved and documentation ranges, and every IPv6 form that contains an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo), because such a form is a second notation for an IPv4 address, and could bypass the
 * checks of that address.
 */
export type AddressKind = 'public' | 'local' | 'shared' | 'never'

const metadata = list([
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  'fd00:c1::/32',
])
const local = list(['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1/128', 'fc00::/7'])
const shared = list(['100.64.0.0/10'])
/** RFC 6890 and its successors: everything that is not listed above and is not globally reachable unicast. */
const reservedIPv4 = list([
  '0.0.0.0/8',
  '169.254.0.0/16',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
])
/** RFC 4291: in IPv6, only 2000::/3 is assigned for use, except for the ranges in the next list. */
const globalIPv6 = list(['2000::/3'])
const reservedIPv6 = list(['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'])

export function addressKind(address: string): AddressKind {
  const plain = address.split('%', 1)[0]!
  if (isIPv4(plain)) return kindOf(plain, 'ipv4')
  if (isIPv6(plain)) return kindOf(plain, 'ipv6')
  return 'never'
}

function kindOf(address: string, family: 'ipv4' | 'ipv6'): AddressKind {
  const within = (ranges: BlockLists) => ranges[family].check(address, family)
  if (within(metadata)) return 'never'
  if (within(local)) return 'local'
  if (within(shared)) return 'shared'
  if (family === 'ipv4') return within(reservedIPv4) ? 'never' : 'public'
  return within(globalIPv6) && !within(reservedIPv6) ? 'public' : 'never'
}

type BlockLists = { ipv4: BlockList; ipv6: BlockList }

/** One list for each family: a mixed BlockList also matches IPv4 ranges against mapped IPv6 addresses. */
function list(ranges: string[]): BlockLists {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() }
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string]
    const family = isIPv4(network) ? 'ipv4' : 'ipv6'
    lists[family].addSubnet(network, Number(bits), family)
  }
  return lists
}
