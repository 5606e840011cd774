import type { IncomingMessage } from 'node:http'

/**
 * Ends a request whose body has not come in time. The server's own limit is off, since an upload may take days;
 * everything else is small, and a body that drips would hold a connection for ever.
 */
export function setBodyDeadline(req: IncomingMessage, deadlineMs: number): void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, deadlineMs)
  for (const event of ['end', 'close'] as const) req.once(event, () => clearTimeout(timer))
}
