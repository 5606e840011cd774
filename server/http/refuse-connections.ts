import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer } from 'node:net'

/**
 * Refuses new connections at once, so balancers go to another node. Resolves when none is left. A connection that is kept
 * open is answered once more and closed with its answer: were it closed under a request on its way, a POST would fail, as
 * nobody may repeat it.
 */
export function refuseConnections(server: Server): Promise<void> {
  const closeAfter = (_: unknown, res: ServerResponse) => {
    res.shouldKeepAlive = false
  }
  server.prependListener('request', closeAfter).prependListener('checkContinue', closeAfter)
  // Not that of HTTP, which closes idle connections first.
  return new Promise((resolve) => NetServer.prototype.close.call(server, () => resolve()))
}
