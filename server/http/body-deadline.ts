import type { IncomingMessage } from 'node:http'

/**
 * Ends a request whose body has not arrived in time, whether it was answered or not. The server's own limit is off, since
 * an upload may take days; all other bodies are small, and one that drips would hold a connection forever. Returns a
 * function that cancels the deadline, for a handler that has its own.
 */
export function setBodyDeadline(req: IncomingMessage, deadlineMs: number): () => void {
  const timer = setTimeout(() => {
    if (!req.complete) req.destroy()
  }, deadlineMs)
  const clear = () => clearTimeout(timer)
  for (const event of ['end', 'close'] as const) req.once(event, clear)
  return clear
}
