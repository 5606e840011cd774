import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns/promises'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** What a name server answers: the records of a name, or that it cannot say. */
type Records = { TXT?: string[]; A?: string[] } | 'fails'

const TYPES = { 1: 'A', 16: 'TXT' } as const
const [NO_ERROR, SERVER_FAILURE, NO_SUCH_NAME] = [0, 2, 3]

/** A name server on this machine, and a resolver that asks no other. */
export async function openNameServer() {
  const zone = new Map<string, Records>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => socket.send(answerTo(query, zone), port, address))
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  const { port } = socket.address()
  // RFC 1035, 4.2.2: over TCP, each message is preceded by its length.
  const overTcp = createServer((client) =>
    client
      .on('error', () => {})
      .once('data', (message) => {
        const answer = answerTo(message.subarray(2), zone)
        client.end(Buffer.concat([Buffer.of(answer.length >> 8, answer.length & 0xff), answer]))
      }),
  ).listen(port, '127.0.0.1')
  await once(overTcp, 'listening')
  const address = `127.0.0.1:${port}`
  const resolver = new Resolver()
  resolver.setServers([address])
  return { zone, address, resolver, close: () => void [socket.close(), overTcp.close()] }
}

/** RFC 1035, 4.1: the question is repeated, and each record's name points to it. */
function answerTo(query: Buffer, zone: Map<string, Records>): Buffer {
  const labels: string[] = []
  let at = 12
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const typeNumber = query.readUInt16BE(at + 1)
  const found = zone.get(labels.join('.').toLowerCase())
  const type = TYPES[typeNumber as keyof typeof TYPES]
  const values = (found !== 'fails' && found?.[type]) || []
  const status = found === 'fails' ? SERVER_FAILURE : found ? NO_ERROR : NO_SUCH_NAME
  const head = Buffer.alloc(12)
  head.writeUInt16BE(query.readUInt16BE(0), 0)
  head.writeUInt16BE(0x8580 | status, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(values.length, 6)
  const records = values.map((value) => {
    const data = type === 'A' ? Buffer.from(value.split('.').map(Number)) : inTwoStrings(value)
    const fixed = Buffer.alloc(12)
    fixed.writeUInt16BE(0xc00c, 0)
    fixed.writeUInt16BE(typeNumber, 2)
    fixed.writeUInt16BE(1, 4)
    fixed.writeUInt16BE(data.length, 10)
    return Buffer.concat([fixed, data])
  })
  return Buffer.concat([head, query.subarray(12, at + 5), ...records])
}

/** A TXT record consists of strings of at most 255 bytes, which are joined. */
function inTwoStrings(text: string): Buffer {
  const halves = [text.slice(0, 10), text.slice(10)]
  return Buffer.concat(halves.flatMap((half) => [Buffer.from([half.length]), Buffer.from(half)]))
}
