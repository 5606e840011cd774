import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Next answers 500 to a posted form or the arguments of an action that it cannot read: cut short, or with fields of its own
 * made up. What our actions throw they catch themselves, and what one throws to a script is within a 200, so this is all
 * that is left: the request was wrong.
 */
export function refuseUnreadableForm(req: IncomingMessage, res: ServerResponse): void {
  const type = req.headers['content-type'] ?? ''
  const isForm =
    req.method === 'POST' && /^multipart\/form-data|^application\/x-www-form-urlencoded/i.test(type)
  const isAction = req.method === 'POST' && req.headers['next-action'] !== undefined
  if (!isForm && !isAction) return
  const writeHead = res.writeHead.bind(res)
  res.writeHead = ((status: number, ...rest: []) =>
    writeHead(status === 500 ? 400 : status, ...rest)) as typeof res.writeHead
}
