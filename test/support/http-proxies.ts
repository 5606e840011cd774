import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Names of the relevant PostgreSQL protocol messages. */
const SYNC = 'S'.charCodeAt(0)
const QUERY = 'Q'.charCodeAt(0)
const PARSE = 'P'.charCodeAt(0)
const HEADER_BYTES = 5

/** A proxy in front of a database that counts round trips, and how often the database has to parse a query. */
export async function openCountingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const counts = { roundTrips: 0, parses: 0 }
  const server = createTcpServer((near) => {
    const far = connect(Number(target.port), target.hostname)
    let pending = Buffer.alloc(0)
    let begun = false
    near.on('data', (bytes: Buffer) => {
      far.write(bytes)
      pending = Buffer.concat([pending, bytes])
      for (;;) {
        // The first message, which identifies the client, has no type byte.
        const header = begun ? HEADER_BYTES : HEADER_BYTES - 1
        if (pending.length < header) return
        const length = pending.readUInt32BE(header - 4) + (header - 4)
        if (pending.length < length) return
        if (begun) {
          const kind = pending[0]
          if (kind === SYNC || kind === QUERY) counts.roundTrips++
          if (kind === PARSE || kind === QUERY) counts.parses++
        }
        begun = true
        pending = pending.subarray(length)
      }
    })
    far.pipe(near)
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      socket.on('error', () => {})
      socket.on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(databaseUrl)
  url.hostname = '127.0.0.1'
  url.port = String((server.address() as AddressInfo).port)
  return {
    url: url.href,
    /** Returns the counts since the last call. */
    take() {
      const taken = { ...counts }
      counts.roundTrips = 0
      counts.parses = 0
      return taken
    },
    close: () => server.close(),
  }
}

/**
 * After `drop(times)`, closes the connection instead of sending the next `times` responses for which `isDue` returns
 * true.
 */
export function dropResponses(server: Server, isDue: () => boolean) {
  const dropping = { times: 0, dropped: 0 }
  server.prependListener('request', (_: IncomingMessage, res: ServerResponse) => {
    const writeHead = res.writeHead.bind(res)
    res.writeHead = ((...head: Parameters<typeof writeHead>) => {
      if (res.destroyed) return res
      if (dropping.dropped === dropping.times || !isDue()) return writeHead(...head)
      dropping.dropped += 1
      res.destroy()
      return res
    }) as typeof res.writeHead
  })
  return {
    get dropped() {
      return dropping.dropped
    },
    drop(times: number) {
      Object.assign(dropping, { times, dropped: 0 })
    },
  }
}

/** A proxy that changes one byte of an upload, and can stall. Clients only see the proxy's own address. */
export async function openFlippingProxy(targetUrl: string) {
  const line = {
    url: '',
    /** The offset of the byte to change. */
    flipAt: Number.POSITIVE_INFINITY,
    /** The offset at which the connection stalls. */
    stopAt: Number.POSITIVE_INFINITY,
    /** How many requests have stalled since the last cut, and how many bytes of uploads have passed. */
    stalled: 0,
    passedBytes: 0,
    /** Breaks every connection. */
    cut: () => {
      line.stalled = 0
      server.closeAllConnections()
    },
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
  const body = (startBytes: number) => {
    let at = startBytes
    return new Transform({
      transform(chunk: Buffer, _, done) {
        const flip = line.flipAt - at
        if (flip >= 0 && flip < chunk.length) chunk[flip]! ^= 1
        at += chunk.length
        // Nothing is sent past `stopAt`, not even the end of the body.
        line.passedBytes += chunk.length
        if (at < line.stopAt) return done(null, chunk)
        line.stalled += 1
        this.push(chunk)
      },
    })
  }
  const ours = (text: string) => text.replaceAll(targetUrl, line.url)
  async function answer(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const text = ours(Buffer.concat(await from.toArray()).toString())
    const { 'content-length': _, 'transfer-encoding': __, location, ...headers } = from.headers
    // Browsers repeat a request by themselves if a connection breaks that they have used before.
    const connection = 'close'
    to.writeHead(from.statusCode!, { ...headers, connection, ...(location && { location: ours(location) }) })
    to.end(text)
  }
  const server = createServer((near, res) => {
    const { method, url } = near
    const { 'accept-encoding': _, ...headers } = near.headers
    const target = new URL(url!, targetUrl)
    const far = request(target, { method: method!, headers: { ...headers, host: target.host }, agent: false })
    far.on('response', (from) => void answer(from, res).catch(() => res.destroy()))
    far.on('error', () => res.destroy())
    const start = Number(headers['upload-offset'] ?? 0)
    const isUpload = url!.startsWith('/pipes/')
    const sending = isUpload ? pipeline(near, body(start), far) : pipeline(near, far)
    void sending.catch(() => far.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  line.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return line
}

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

/** A proxy between a browser and Sluice that sends pages in pieces, one for each call of `next`. */
export type PiecewiseProxy = {
  url: string
  /** Sends the next piece of the page in progress; false if there was none left. */
  next(): Promise<boolean>
  close(): Promise<void>
}

const PIECES = 24

export async function startPiecewiseProxy(target: string): Promise<PiecewiseProxy> {
  let pending = Promise.withResolvers<{ pieces: Buffer[]; response: ServerResponse }>()
  const server = createServer((incoming, response) => {
    const headers = { ...incoming.headers, host: new URL(target).host, 'accept-encoding': 'identity' }
    const sent = request(new URL(incoming.url!, target), { method: incoming.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers)
      if (!answer.headers['content-type']?.startsWith('text/html')) return void answer.pipe(response)
      void piecesOf(answer).then((pieces) => pending.resolve({ pieces, response }))
    })
    sent.on('error', () => response.destroy())
    incoming.pipe(sent)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}`,
    async next() {
      const { pieces, response } = await pending.promise
      const piece = pieces.shift()
      if (piece) {
        response.write(piece)
        return true
      }
      response.end()
      pending = Promise.withResolvers()
      return false
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The head in one piece, so that its styles can be fetched, then the visible content, in equal parts. */
async function piecesOf(answer: IncomingMessage): Promise<Buffer[]> {
  const whole = Buffer.concat(await answer.toArray())
  const [begin, end] = [whole.indexOf('<main'), whole.indexOf('</main>')]
  const bytes = Math.ceil((end - begin) / PIECES)
  const cuts = Array.from({ length: PIECES + 1 }, (_, n) => begin + n * bytes)
  return [0, ...cuts].map((from, n) => whole.subarray(from, cuts[n]))
}
