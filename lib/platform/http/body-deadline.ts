import type { IncomingMessage } from 'node:http'

/**
 * Ends a request whose body has not come in time, whether it was answered or not. The server's own limit is off, since an
 * upload may take days; everything else is small, and a body that drips would hold a connection for ever. Answers with a
 * function that takes the deadline away, for a handler that has its own.
 */
export function setBodyDeadline(req: IncomingMessage, deadlineMs: number): () => void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, deadlineMs)
  const clear = () => clearTimeout(timer)
  for (const event of ['end', 'close'] as const) req.once(event, clear)
  return clear
}
