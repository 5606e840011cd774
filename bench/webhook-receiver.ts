import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * A receiver in its own process. `/ok` responds immediately and records how long after its event's timestamp each
 * webhook arrived; `/hang` never responds; GET returns the records and starts over.
 */
let delaysMs: number[] = []

const server = createServer((req, res) => {
  if (req.method === 'GET') {
    res.end(JSON.stringify(delaysMs))
    delaysMs = []
    return
  }
  if (req.url === '/hang') return req.resume()
  const arrivedMs = Date.now()
  const chunks: Buffer[] = []
  req.on('data', (chunk) => chunks.push(chunk))
  req.on('end', () => {
    const { timestamp } = JSON.parse(Buffer.concat(chunks).toString()) as { timestamp: string }
    delaysMs.push(arrivedMs - Date.parse(timestamp))
    res.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
process.send!((server.address() as AddressInfo).port)
