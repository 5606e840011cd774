import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
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
  const reset = (socket: Socket) => void socket.resetAndDestroy()
  const sayFarewell = (socket: Socket) => void socket.end(FAREWELL)

  /** A server that accepts `begin` and this many further statements, and then ends the session. */
  async function startEnding(accepted: number, end: (socket: Socket) => void, isAtOnce = false) {
    const gone = Promise.withResolvers<void>()
    const server = createServer((socket) => {
      socket.on('error', () => {}).on('close', () => gone.resolve())
      let answered = 0
      socket.once('data', () => {
        socket.write(WELCOME)
        socket.on('data', () => {
          if (answered > accepted) return end(socket)
          socket.write(Buffer.concat([DONE, IN_TRANSACTION]))
          answered += 1
          if (isAtOnce && answered > accepted) end(socket)
        })
      })
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { db, close } = openPostgres({
      address: `postgres://sluice@127.0.0.1:${port}/sluice`,
      maxConnections: 1,
    })
    const thrown: unknown[] = []
    const note = (error: unknown) => void thrown.push(error)
    process.prependListener('uncaughtException', note)
    return {
      db,
      gone: gone.promise,
      async expectSurvival() {
        await turns(10)
        process.off('uncaughtException', note)
        server.close()
        void close()
        expect(thrown).toEqual([])
      },
    }
  }

  it.each([
    ['at once', sayFarewell],
    ['at the next statement', reset],
  ])('fails, and the process survives (%s)', async (when, end) => {
    const { db, gone, expectSurvival } = await startEnding(0, end, when === 'at once')
    const late = Promise.withResolvers<unknown>()
    const begun = db.transaction(async (tx) => {
      if (when === 'at once') await gone
      else await tx.execute(sql`select 1`).catch(() => {})
      await turns(10)
      await tx.execute(sql`select 2`).then(late.resolve, late.resolve)
    })
    await expect(begun).rejects.toThrow()
    expect(String(((await late.promise) as Error).cause)).toContain("transaction's session has ended")
    await expectSurvival()
  })

  it.each([
    ['resets the connection', reset],
    ['says farewell', sayFarewell],
  ])('fails if the server %s, and sends nothing that follows immediately', async (_, end) => {
    const { db, expectSurvival } = await startEnding(0, end)
    const late: unknown[] = []
    const begun = db.transaction(async (tx) => {
      for (let n = 0; n < 5; n++) await tx.execute(sql`select 1`).catch((error) => late.push(error))
    })
    await expect(begun).rejects.toThrow()
    await expectSurvival()
    expect(late).toHaveLength(5)
    for (const error of late.slice(1))
      expect(String((error as Error).cause)).toContain("transaction's session has ended")
  })

  it.each([
    ['resets the connection', reset],
    ['says farewell', sayFarewell],
  ])('fails if the server %s within a savepoint, which is not rolled back', async (_, end) => {
    const { db, expectSurvival } = await startEnding(1, end)
    const begun = db.transaction((tx) => tx.transaction((inner) => inner.execute(sql`select 1`)))
    await expect(begun).rejects.toThrow()
    await expectSurvival()
  })
})

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}
