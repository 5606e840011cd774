import { isIP } from 'node:net'
import { bareHost, isNamed, judgeConnection, readAllowedHosts, refused } from './judge-connection.ts'
import { LOOPBACK_NAME } from './resolve-host.ts'

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
