import { readFileSync } from 'node:fs'
import { createServer, Agent as HttpAgent, type RequestListener, request as requestHttp } from 'node:http'
import { createServer as createTlsServer, Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { AddressInfo } from 'node:net'

/** The minimum for a Node process: `req.pipe()` to the sink. */
const sink = new URL(process.env.SINK!)
const tls = sink.protocol === 'https:'
const agent = new (tls ? HttpsAgent : HttpAgent)({ keepAlive: true })
const request = tls ? requestHttps : requestHttp
let next = 0

const { TLS_CERT_FILE: cert, TLS_KEY_FILE: key } = process.env

const carry: RequestListener = (req, res) => {
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
}

const server =
  cert && key
    ? createTlsServer({ cert: readFileSync(cert), key: readFileSync(key) }, carry)
    : createServer(carry)
server.listen(0, '127.0.0.1')
server.on('listening', () =>
  process.send!({ url: `${cert ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
