import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

type Operation = 'part' | 'end' | 'put' | 'other'

/** What happens during the next request of a kind, once the moments before this one have passed. */
export type Moment = {
  operation: Operation
  /** Before the cloud knows of the request, after half of its body, or before its response is passed on. */
  at: 'before' | 'half' | 'after'
  act(request: IncomingMessage): unknown
}

/** A proxy in front of a cloud's server, which can be unreachable, or disturb a request at a given moment. */
export async function openCloudLine(endpoint: string) {
  const line = {
    url: '',
    isAway: false,
    moments: [] as Moment[],
    /** The bytes of the parts and objects that the cloud has accepted. */
    storedBytes: 0,
    /** The path and ETag of each object that was made. An object with other bytes has another ETag. */
    made: new Set<string>(),
  }
  const take = (operation: Operation, at: Moment['at']) => {
    const [next] = line.moments
    return next?.operation === operation && next?.at === at ? line.moments.shift() : undefined
  }

  async function pass(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (line.isAway) return void req.socket.resetAndDestroy()
    const url = new URL(req.url!, endpoint)
    const { connection: _, ...headers } = req.headers
    const bytes = Number(headers['content-length'] ?? 0)
    const operation = operationOf(req.method!, url.searchParams)
    await take(operation, 'before')?.act(req)
    if (req.socket.destroyed) return
    const onward = request(url, { method: req.method, headers })
      .on('error', () => res.destroy())
      .on('response', async (answer) => {
        const body = Buffer.concat(await answer.toArray().catch(() => []))
        const etag = answer.headers.etag ?? String(body).match(/<ETag>(.*?)</)?.[1]
        const isDone = answer.statusCode! < 300
        if (isDone && ['part', 'put'].includes(operation)) line.storedBytes += bytes
        if (isDone && ['end', 'put'].includes(operation)) line.made.add(`${url.pathname} ${etag}`)
        await take(operation, 'after')?.act(req)
        res.writeHead(answer.statusCode!, answer.headers).end(body)
      })
    res.once('close', () => req.complete || onward.destroy())
    const half = take(operation, 'half')
    let passedBytes = 0
    for await (const chunk of req as AsyncIterable<Buffer>) {
      if (!onward.write(chunk)) await once(onward, 'drain')
      if (half && passedBytes < bytes / 2 && passedBytes + chunk.length >= bytes / 2) await half.act(req)
      passedBytes += chunk.length
    }
    onward.end()
  }

  const server = createServer((req, res) => pass(req, res).catch(() => res.destroy())).listen(0, '127.0.0.1')
  await once(server, 'listening')
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return line
}

function operationOf(method: string, query: URLSearchParams): Operation {
  if (method === 'POST' && query.has('uploadId')) return 'end'
  if (method !== 'PUT') return 'other'
  if (query.get('comp') === 'blocklist') return 'end'
  return query.has('partNumber') || query.get('comp') === 'block' ? 'part' : 'put'
}
