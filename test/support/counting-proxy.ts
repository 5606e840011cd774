import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

/** Names of the relevant PostgreSQL protocol messages. */
const SYNC = 'S'.charCodeAt(0)
const QUERY = 'Q'.charCodeAt(0)
const PARSE = 'P'.charCodeAt(0)
const HEADER_BYTES = 5

/** A proxy in front of a database that counts round trips, and how often the database has to parse a query. */
export async function openCountingProxy(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const counts = { roundTrips: 0, parses: 0 }
  const server = createServer((near) => {
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
