import { expect, inject, it } from 'vitest'
import { openBreakableLine } from '../../../test/support/breakable-line.ts'
import { createLogger } from '../log/log.ts'
import { untilReached } from './open-database.ts'
import { openPostgres } from './open-postgres.ts'

it('waits for a database that is not there yet, and says so every five seconds', async () => {
  const address = new URL(inject('postgresUrl'))
  const line = await openBreakableLine({ toPort: Number(address.port) })
  await line.away()
  address.host = `127.0.0.1:${line.port}`
  const { db, close } = openPostgres({ address: address.href, maxConnections: 2 })
  const lines: { msg: string; why: string }[] = []
  const log = createLogger('info', { write: (text) => void lines.push(JSON.parse(text)) })
  let waitedMs = 0
  await untilReached(db, log, async (ms) => {
    waitedMs += ms
    if (waitedMs === 11_000) await line.back()
  })
  const why = expect.stringMatching(/^The database does not answer .* correct DATABASE_URL/)
  const waiting = { msg: 'waiting for the database', why }
  expect(lines).toMatchObject([waiting, waiting, waiting])
  await close()
  await line.close()
})

it('does not wait for one that refuses it', async () => {
  const address = new URL(inject('postgresUrl'))
  address.pathname = '/there-is-none'
  const { db, close } = openPostgres({ address: address.href, maxConnections: 2 })
  await expect(untilReached(db, createLogger('silent'))).rejects.toThrow()
  await close()
})
