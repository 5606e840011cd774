import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * A proxy between a browser and Sluice that stalls uploads after a given number of bytes, until the connections are
 * cut. A browser's own offline mode does not affect requests in progress. Each request has its own connection, because
 * browsers automatically repeat a request that fails on a reused connection.
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
      // Resolve only once the chunk has left this process: a cut drops unsent bytes.
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
    /** Limits how many bytes each of the next requests may send; resolves when one of them stalls. */
    holdAfter(bytes: number): Promise<void> {
      mayPassBytes = bytes
      held = Promise.withResolvers()
      return held.promise
    },
    flow() {
      mayPassBytes = Number.POSITIVE_INFINITY
    },
    /** Sets whether new connections fail immediately, as if no server were listening. */
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
