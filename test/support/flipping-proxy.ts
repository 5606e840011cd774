import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A proxy that changes one byte of an upload, and can stall. Clients only see the proxy's own address. */
export async function openFlippingProxy(targetUrl: string) {
  const line = {
    url: '',
    /** The offset of the byte to change. */
    flipAt: Number.POSITIVE_INFINITY,
    /** The offset at which the connection stalls. */
    stopAt: Number.POSITIVE_INFINITY,
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
        if (at < line.stopAt) done(null, chunk)
        else this.push(chunk)
      },
    })
  }
  const ours = (text: string) => text.replaceAll(targetUrl, line.url)
  async function answer(from: IncomingMessage, to: ServerResponse): Promise<void> {
    const text = ours(Buffer.concat(await from.toArray()).toString())
    const { 'content-length': _, 'transfer-encoding': __, location, ...headers } = from.headers
    to.writeHead(from.statusCode!, { ...headers, ...(location && { location: ours(location) }) })
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
