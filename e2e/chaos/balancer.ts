import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/**
 * A minimal load balancer: it sends uploads to the upload nodes in turn, and other requests to the web nodes. It
 * forwards bodies as they arrive. Like real balancers, it tries another node if one cannot be reached, or if one closes
 * the connection of a GET or HEAD without a response. It passes on any other broken connection to the client.
 */
export type Balancer = Awaited<ReturnType<typeof startBalancer>>
export type Pool = 'upload' | 'web'

export async function startBalancer() {
  const pools: Record<Pool, number[]> = { upload: [], web: [] }
  const clients = new Set<Socket>()
  let turn = 0
  const server = createServer({ requestTimeout: 0 }, (req, res) => {
    const ports = pools[req.url!.startsWith('/pipes/') ? 'upload' : 'web']
    const first = turn++
    const order = ports.map((_, at) => ports[(first + at) % ports.length]!)
    pass(req, res, order)
  })
  server.on('connection', (socket) => {
    clients.add(socket)
    socket.once('close', () => clients.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    pools,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Breaks the connections of all clients selected by `chosen`. */
    cut(chosen: () => boolean) {
      for (const socket of clients) if (chosen()) socket.resetAndDestroy()
    },
    async close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function pass(req: IncomingMessage, res: ServerResponse, [port, ...others]: number[]): void {
  if (port === undefined) return void res.destroy()
  const to = request({ host: '127.0.0.1', port, method: req.method!, path: req.url!, headers: req.headers })
  let connected = false
  const abandon = () => to.destroy()
  const failed = () => {
    res.off('close', abandon)
    req.unpipe(to)
    const again = !connected || req.method === 'HEAD' || req.method === 'GET'
    if (again && !res.headersSent && !res.destroyed) pass(req, res, others)
    else res.destroy()
  }
  to.once('error', failed)
  res.once('close', abandon)
  to.once('socket', (socket) => {
    const flow = () => {
      connected = true
      req.pipe(to)
    }
    if (socket.connecting) socket.once('connect', flow)
    else flow()
  })
  to.once('response', (from) => {
    to.off('error', failed)
    to.on('error', () => res.destroy())
    res.writeHead(from.statusCode!, from.rawHeaders)
    from.pipe(res)
    from.once('close', () => {
      if (!from.complete) res.destroy()
    })
  })
}
