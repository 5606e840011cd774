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
