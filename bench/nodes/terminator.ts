import { readFileSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { createServer } from 'node:tls'

/** Ends the TLS of clients before a server that speaks none, as a balancer does. */
const { hostname, port } = new URL(process.env.BEHIND!)
const { TLS_KEY: key, TLS_CERT: cert } = process.env

const server = createServer({ key: readFileSync(key!), cert: readFileSync(cert!) }, (client) => {
  const behind = connect(Number(port), hostname).setNoDelay()
  client.pipe(behind).pipe(client)
  client.on('error', () => behind.destroy())
  behind.on('error', () => client.destroy())
}).listen(0, '127.0.0.1')
server.on('listening', () =>
  process.send!({ url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` }),
)
