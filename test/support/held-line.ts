import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * A line between a browser and Sluice on which an upload stands still after so many bytes, until it is cut: a browser's own
 * offline mode leaves alone what is in progress. Each request has a connection of its own, since a browser sends one
 * again by itself that breaks on a connection which was good before.
 */
export async function openHeldLine(to: { hostname: string; port: string }) {
  const clients = new Set<Socket>()
  let mayPassBytes = Number.POSITIVE_INFINITY
  let held = Promise.withResolvers<void>()
  let away = false

  function pass(req: IncomingMessage, res: ServerResponse): void {
    const { method, url, headers } = req
    const onward = request({ host: to.hostname, port: to.port, method, path: url, headers })
    let leftBytes = mayPassBytes
    req.on('data', (chunk: Buffer) => {
      leftBytes -= chunk.length
      if (leftBytes > 0) return void onward.write(chunk)
      req.pause()
      // Not before it has left this process, since a cut drops what has not.
      onward.write(chunk, () => held.resolve())
    })
    req.once('end', () => onward.end())
    res.once('close', () => onward.destroy())
    onward.once('error', () => res.destroy())
    onward.once('response', (answer) => {
      res.writeHead(answer.statusCode!, { ...answer.headers, connection: 'close' })
      answer.pipe(res)
    })
  }

  const server = createServer(pass)
  server.on('connection', (socket) => {
    if (away) return void socket.resetAndDestroy()
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** What the next requests may send each; answers when one of them stands still. */
    holdAfter(bytes: number): Promise<void> {
      mayPassBytes = bytes
      held = Promise.withResolvers()
      return held.promise
    },
    flow() {
      mayPassBytes = Number.POSITIVE_INFINITY
    },
    /** Whether new connections break at once, as where no server listens. */
    setAway(now: boolean) {
      away = now
    },
    /** Breaks every connection. */
    cut() {
      for (const socket of clients) socket.resetAndDestroy()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
