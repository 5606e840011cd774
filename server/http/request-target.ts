import type { IncomingMessage } from 'node:http'
import { SluiceError } from '../../lib/platform/kernel/errors.ts'

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i

/**
 * The target of a request as a path (RFC 9112, 3.2). Of an absolute one the host counts instead of the Host header, as
 * there: what follows would check the one and go by the other. `*` is left, which only OPTIONS may have.
 */
export function toOriginForm(req: IncomingMessage): void {
  const target = req.url ?? ''
  if (target.startsWith('/') || (target === '*' && req.method === 'OPTIONS')) return
  const [, host, rest] = target.match(ABSOLUTE) ?? []
  if (host === undefined || rest === undefined)
    throw new SluiceError('invalid_request', 'The target of a request must be a path.')
  req.headers.host = host.toLowerCase()
  req.url = rest.startsWith('/') ? rest : `/${rest}`
}
