import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

export type Received = { path: string; headers: IncomingHttpHeaders; body: string }
type Answer = number | ((received: Received, res: ServerResponse) => void)

/** A customer's webhook receiver. It records its requests, and responds with 204 until the test changes that. */
export async function startReceiver(first: Answer = 204) {
  const received: Received[] = []
  let answer = first
  const waiting = new Set<() => void>()
  // Longer than any test, so that the server never closes an idle connection just as it is reused.
  const server = createServer({ keepAliveTimeout: 600_000 }, (req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      const one = { path: req.url!, headers: req.headers, body: Buffer.concat(chunks).toString() }
      received.push(one)
      if (typeof answer === 'number') res.writeHead(answer).end()
      else answer(one, res)
      for (const look of waiting) look()
    })
  })
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answerWith(next: Answer) {
      answer = next
    },
    /** Resolves when this many requests have arrived in total. */
    async gets(count: number): Promise<void> {
      while (received.length < count) {
        await new Promise<void>((resolve) => {
          const look = () => {
            waiting.delete(look)
            resolve()
          }
          waiting.add(look)
        })
      }
    },
    /** Resolves when every client has gone, and all that they sent has arrived. */
    async isLeft(): Promise<void> {
      await Promise.all([...sockets].map((socket) => once(socket, 'close')))
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>
