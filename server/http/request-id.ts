import type { IncomingMessage } from 'node:http'
import { uuidv7 } from '../../lib/platform/kernel/ids.ts'
import type { ProxyTrust } from './trusted-proxies.ts'

const REQUEST_ID = /^[\w.:+/=-]{8,128}$/
/** https://www.w3.org/TR/trace-context/#traceparent-header-field-values: version, trace, span, flags; never all zeros. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** What a trusted proxy calls the request, so that its log and ours can be read together; else an id of our own. */
export function nameRequest(
  req: IncomingMessage,
  trusts: ProxyTrust,
): { id: string; traceparent: string | undefined } {
  const given = trusts(req.socket.remoteAddress ?? '') ? req.headers : {}
  const traceparent = TRACEPARENT.exec(String(given.traceparent ?? '').trim())?.[0]
  const id = String(given['x-request-id'] ?? '')
  return { id: REQUEST_ID.test(id) ? id : uuidv7(), traceparent }
}
