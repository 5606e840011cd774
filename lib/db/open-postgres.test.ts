import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { openPostgres } from './open-postgres.ts'

/** A message of PostgreSQL's protocol: its letter, its length, its text. */
function message(letter: string, content: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length + 4)
  return Buffer.concat([Buffer.from(letter), length, content])
}

const WELCOME = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))])
const FAREWELL = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
)

it('survives a session that ends at its first query: the query fails, and nothing else', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write(WELCOME)
      socket.once('data', () => socket.end(FAREWELL))
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.prependListener('unhandledRejection', note)
  const { port } = server.address() as AddressInfo
  const { db, close } = openPostgres({ url: `postgres://sluice@127.0.0.1:${port}/sluice`, maxConnections: 1 })
  await expect(db.execute(sql`select 1`)).rejects.toThrow()
  server.close()
  void close()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})
