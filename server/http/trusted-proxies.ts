import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { uuidv7 } from '../../lib/platform/kernel/ids.ts'

/**
 * Whether a peer may use X-Forwarded-* headers to report the client's address and the host and protocol it requested.
 */
export type ProxyTrust = (address: string) => boolean

export function proxyTrust(networks: string[]): ProxyTrust {
  const list = new BlockList()
  for (const network of networks) {
    const [address, bits] = network.split('/') as [string, string?]
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(bits), family)
  }
  return (address) => {
    const plain = address.replace(/^::ffff:(?=\d+\.)/, '')
    return isIP(plain) !== 0 && list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')
  }
}

export function forwarded(
  req: IncomingMessage,
  trusts: ProxyTrust,
): { host: string; proto: string; address: string } {
  const peer = req.socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? ''
  const encrypted = 'encrypted' in req.socket
  const direct = { host: req.headers.host ?? '', proto: encrypted ? 'https' : 'http', address: peer }
  if (!trusts(peer)) return direct
  const header = (name: string) => String(req.headers[name] ?? '')
  const last = (name: string) => header(name).split(',').at(-1)!.trim()
  return {
    host: last('x-forwarded-host') || direct.host,
    proto: last('x-forwarded-proto') || direct.proto,
    address: clientAddress(header('x-forwarded-for'), trusts) || peer,
  }
}

/** The last address in the chain that is not a trusted proxy. Anyone can forge those before it. */
function clientAddress(chain: string, trusts: ProxyTrust): string | undefined {
  const addresses = chain
    .split(',')
    .map((part) => part.trim())
    .filter((part) => isIP(part) !== 0)
  return addresses.reverse().find((address) => !trusts(address)) ?? addresses.at(-1)
}

const REQUEST_ID = /^[\w.:+/=-]{8,128}$/
/**
 * https://www.w3.org/TR/trace-context/#traceparent-header-field-values: version, trace, span, flags; never all zeros.
 */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** A trusted proxy's request id, so that its log and Sluice's can be correlated; otherwise a new id. */
export function nameRequest(
  req: IncomingMessage,
  trusts: ProxyTrust,
): { id: string; traceparent: string | undefined } {
  const given = trusts(req.socket.remoteAddress ?? '') ? req.headers : {}
  const traceparent = TRACEPARENT.exec(String(given.traceparent ?? '').trim())?.[0]
  const id = String(given['x-request-id'] ?? '')
  return { id: REQUEST_ID.test(id) ? id : uuidv7(), traceparent }
}
