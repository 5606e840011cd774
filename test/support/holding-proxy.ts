import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Held = { method: string; path: string; headers: IncomingMessage['headers']; body: Buffer }

/**
 * A proxy in front of a bucket that holds back parts: it accepts every byte of one, closes the connection without a
 * response, and delivers the part to the bucket later. A slow network or proxy can do this to a request from a node
 * that has since died.
 */
export async function openHoldingProxy(bucketPort: number) {
  const held: Held[] = []
  let wanted: ((partNumber: number) => boolean) | undefined
  let caught = Promise.withResolvers<void>()

  const server = createServer({ requestTimeout: 0 }, (req, res) => {
    const number = Number(new URL(req.url!, 'http://bucket').searchParams.get('partNumber'))
    if (req.method === 'PUT' && number > 0 && wanted?.(number)) void hold(req, res)
    else pass(req, res)
  }).listen(0, '127.0.0.1')

  async function hold(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const chunks: Buffer[] = await req.toArray().catch(() => [])
    res.socket?.resetAndDestroy()
    if (!req.complete) return
    held.push({ method: 'PUT', path: req.url!, headers: req.headers, body: Buffer.concat(chunks) })
    caught.resolve()
  }
  function pass(req: IncomingMessage, res: ServerResponse): void {
    const onward = forward({ method: req.method!, path: req.url!, headers: req.headers })
    req.pipe(onward)
    req.once('close', () => req.complete || onward.destroy())
    onward.once('response', (answer) => {
      res.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(res)
      answer.on('error', () => res.destroy())
    })
    onward.on('error', () => res.destroy())
    for (const stream of [req, res]) stream.on('error', () => onward.destroy())
  }
  const forward = ({ method, path, headers }: Omit<Held, 'body'>) =>
    request({ host: '127.0.0.1', port: bucketPort, method, path, headers, agent: false })

  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    /** Starts holding back matching parts; resolves when it has received one completely. */
    holdParts(such: (partNumber: number) => boolean): Promise<void> {
      wanted = such
      caught = Promise.withResolvers()
      return caught.promise
    },
    /**
     * Stops holding back parts, delivers the held ones to the bucket, and returns their statuses; 0 means no response.
     */
    async deliver(): Promise<number[]> {
      wanted = undefined
      const late = held.splice(0).map(async ({ body, ...head }) => {
        const sent = forward(head)
        sent.end(body)
        const [answer] = (await once(sent, 'response').catch(() => [])) as [IncomingMessage?]
        answer?.resume().on('error', () => {})
        return answer?.statusCode ?? 0
      })
      return Promise.all(late)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
