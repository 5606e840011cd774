import { createServer, Agent as HttpAgent, type RequestListener, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'

/** The minimum that a Node process must do for an upload in parts: it buffers each part, and sends it to the sink. */
const PART_BYTES = 8 * 1024 * 1024
const PARTS_IN_FLIGHT = 3
const sink = new URL(process.env.SINK!)
const tls = sink.protocol === 'https:'
const agent = new (tls ? HttpsAgent : HttpAgent)({ keepAlive: true })
const request = tls ? requestHttps : requestHttp
let next = 0

const carry: RequestListener = async (req, res) => {
  const path = `/media/floor-${++next}`
  const sending = new Set<Promise<void>>()
  let chunks: Buffer[] = []
  let bytes = 0
  const flush = async () => {
    const part = send(`${path}?partNumber=1&uploadId=floor`, chunks, bytes)
    sending.add(part)
    part.finally(() => sending.delete(part))
    chunks = []
    bytes = 0
    if (sending.size >= PARTS_IN_FLIGHT) await Promise.race(sending)
  }
  for await (const chunk of req as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= PART_BYTES) await flush()
  }
  if (bytes > 0) await flush()
  await Promise.all(sending)
  res.writeHead(204).end()
}

function send(path: string, chunks: readonly Buffer[], bytes: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const headers = { 'Content-Length': String(bytes) }
  const onward = request({ host: sink.hostname, port: sink.port, method: 'PUT', path, agent, headers })
  onward.on('error', reject)
  onward.on('response', (response) => response.resume().on('end', resolve))
  let at = 0
  // Writing all chunks in one call would copy them into one buffer.
  const more = () => {
    const chunk = chunks[at++]
    if (at === chunks.length) onward.end(chunk)
    else onward.write(chunk, more)
  }
  more()
  return promise
}

const server = createServer(carry).listen(0, '127.0.0.1')
server.on('listening', () =>
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
