import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A bucket that accepts every request, and responds one byte at a time, forever. */
export type DrippingBucket = {
  endpoint: string
  /** The number of responses in progress. */
  readonly dripping: number
  close(): Promise<void>
}

const DRIP_MS = 250

export async function startDrippingBucket(): Promise<DrippingBucket> {
  const open = new Set<ServerResponse>()
  const server = createServer({ requestTimeout: 0 }, (request, response) => {
    response.writeHead(200, { 'Content-Type': 'application/xml' }).write('<')
    open.add(response)
    response.on('close', () => open.delete(response))
    request.resume()
  })
  const timer = setInterval(() => {
    for (const response of open) response.write(' ')
  }, DRIP_MS)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get dripping() {
      return open.size
    },
    async close() {
      clearInterval(timer)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
