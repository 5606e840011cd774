import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { openPostgres } from './open-postgres.ts'

/** A PostgreSQL protocol message: its letter, its length and its content. */
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

it('survives a session that ends at its first query, and fails only that query', async () => {
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
  const { db, close } = openPostgres({
    address: `postgres://sluice@127.0.0.1:${port}/sluice`,
    maxConnections: 1,
  })
  await expect(db.execute(sql`select 1`)).rejects.toThrow()
  server.close()
  void close()
  process.off('unhandledRejection', note)
  expect(unhandled).toEqual([])
})

describe('a transaction whose session ends', () => {
  const DONE = message('C', Buffer.from('BEGIN\0'))
  const IN_TRANSACTION = message('Z', Buffer.from('T'))

  /** A server that accepts `begin`, and then ends the session: immediately, or at the next statement. */
  async function startEnding(when: 'at once' | 'at the next statement') {
    const gone = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('close', () => gone.resolve())
      socket.once('data', () => {
        socket.write(WELCOME)
        socket.once('data', () => {
          socket.write(Buffer.concat([DONE, IN_TRANSACTION]))
          if (when === 'at once') socket.end(FAREWELL)
          else socket.once('data', () => socket.resetAndDestroy())
        })
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const url = `postgres://sluice@127.0.0.1:${port}/sluice`
    return { server, gone: gone.promise, handle: openPostgres({ address: url, maxConnections: 1 }) }
  }

  it.each(['at once', 'at the next statement'] as const)(
    'fails, and the process survives (%s)',
    async (when) => {
      const { server, gone, handle } = await startEnding(when)
      const thrown: unknown[] = []
      const note = (error: unknown) => void thrown.push(error)
      process.prependListener('uncaughtException', note)
      const late = Promise.withResolvers<unknown>()
      const begun = handle.db.transaction(async (tx) => {
        if (when === 'at once') await gone
        else await tx.execute(sql`select 1`).catch(() => {})
        await turns(10)
        await tx.execute(sql`select 2`).then(late.resolve, late.resolve)
      })
      await expect(begun).rejects.toThrow()
      expect(String(((await late.promise) as Error).cause)).toContain("transaction's session has ended")
      await turns(10)
      process.off('uncaughtException', note)
      server.close()
      void handle.close()
      expect(thrown).toEqual([])
    },
  )
})

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}
