import type { IncomingMessage, ServerResponse } from 'node:http'

/**
 * Next answers 500 to a posted form that it cannot read: one cut short, or with fields of its own made up. What our
 * actions throw they catch themselves, so of a form without script that is all that is left: the request was wrong.
 */
export function refuseUnreadableForm(req: IncomingMessage, res: ServerResponse): void {
  const type = req.headers['content-type'] ?? ''
  const isForm =
    req.method === 'POST' && /^multipart\/form-data|^application\/x-www-form-urlencoded/i.test(type)
  if (!isForm || req.headers['next-action'] !== undefined) return
  const writeHead = res.writeHead.bind(res)
  res.writeHead = ((status: number, ...rest: []) =>
    writeHead(status === 500 ? 400 : status, ...rest)) as typeof res.writeHead
}
