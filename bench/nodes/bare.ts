import { createServer, Agent as HttpAgent, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'

/** The least that a Node process can do: `req.pipe()` to the sink. */
const sink = new URL(process.env.SINK!)
const tls = sink.protocol === 'https:'
const agent = new (tls ? HttpsAgent : HttpAgent)({ keepAlive: true })
const request = tls ? requestHttps : requestHttp
let next = 0

const server = createServer((req, res) => {
  const headers = { 'Content-Length': req.headers['content-length'] ?? '0' }
  const path = `/media/bare-${++next}`
  const onward = request(
    { host: sink.hostname, port: sink.port, method: 'PUT', path, agent, headers },
    (answer) => {
      answer.resume()
      answer.on('end', () => res.writeHead(204).end())
    },
  )
  req.pipe(onward)
}).listen(0, '127.0.0.1')
server.on('listening', () =>
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
