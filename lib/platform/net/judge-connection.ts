import { isIP } from 'node:net'
import { SluiceError } from '../kernel/errors.ts'
import { addressKind } from './address-kind.ts'

/** ALLOWED_PRIVATE_HOSTS, read: `host:port` names, and whether `*` opens all loopback and private addresses. */
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

/** The host without the brackets and the final dot that an address may carry. */
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
 * Throws unless Sluice may talk to `address` for this target. What a name resolves to is for our log: to a customer it
 * would tell of the network that Sluice runs in.
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
  if (!target.secure) throw refuse(`${what} must be reached by https, not plain http.`)
}

export function refused(detail: string, cause?: string): SluiceError {
  return new SluiceError('address_not_allowed', detail, { cause })
}

/**
 * Throws `address_not_allowed` where the address alone shows that it would be refused. It is for forms, so that people
 * hear of it at once; what keeps Sluice safe is the judgement of each connection.
 */
export function assertAllowedUrl(text: string, entries: string[]): void {
  const allowed = readAllowedHosts(entries)
  const url = URL.parse(text)
  if (!url) throw refused('That is not an address. It looks like https://host/path.')
  if (!/^https?:$/.test(url.protocol)) throw refused('Use an https address.')
  if (url.username || url.password) throw refused('Leave the user name and password out of the address.')
  const secure = url.protocol === 'https:'
  const hostname = bareHost(url.hostname)
  const target = { hostname, port: Number(url.port || (secure ? 443 : 80)), secure }
  const literal = isIP(hostname) ? hostname : LOOPBACK_NAME.test(hostname) ? '127.0.0.1' : undefined
  if (literal) judgeConnection(target, literal, allowed)
  if (secure || literal || allowed.all || isNamed(target, allowed)) return
  throw refused(`${url.host} must be reached by https, not plain http.`)
}
