import { expect, inject, it } from 'vitest'
import { freePort } from '../../../test/support/postgres.ts'
import { openBreakableLine } from '../../../test/support/tcp-proxies.ts'
import { createLogger } from '../log/log.ts'
import { untilReached } from './open-database.ts'
import { openPostgres } from './open-postgres.ts'

it('waits for a database that is not up yet, and logs this every five seconds', async () => {
  const address = new URL(inject('postgresUrl'))
  const line = await openBreakableLine({ toPort: Number(address.port) })
  await line.away()
  address.host = `127.0.0.1:${line.port}`
  const database = openPostgres({ address: address.href, maxConnections: 2 })
  const lines: { msg: string; why: string }[] = []
  const log = createLogger('info', { write: (text) => void lines.push(JSON.parse(text)) })
  let waitedMs = 0
  await untilReached(database, {
    log,
    waitMs: 60_000,
    now: () => waitedMs,
    async pause(ms) {
      waitedMs += ms
      if (waitedMs === 11_000) await line.back()
    },
  })
  const why = expect.stringMatching(/^The database is not responding .* correct DATABASE_URL/)
  const waiting = { msg: 'waiting for the database', why }
  expect(lines).toMatchObject([waiting, waiting, waiting])
  await database.close()
  await line.close()
})

it('does not wait for a database that refuses the connection', async () => {
  const address = new URL(inject('postgresUrl'))
  address.pathname = '/there-is-none'
  const database = openPostgres({ address: address.href, maxConnections: 2 })
  const log = createLogger('silent')
  await expect(untilReached(database, { waitMs: 60_000, log })).rejects.toThrow('there-is-none')
  await database.close()
})

it('waits no longer than configured, and reports what it waited for', async () => {
  const database = openPostgres({ address: `postgres://nobody@127.0.0.1:${await freePort()}/none` })
  let waitedMs = 0
  const started = untilReached(database, {
    log: createLogger('silent'),
    waitMs: 3000,
    now: () => waitedMs,
    pause: async (ms) => {
      waitedMs += ms
    },
  })
  await expect(started).rejects.toThrow(
    /is not responding .*ECONNREFUSED.* waited 3 s.*DATABASE_WAIT_SECONDS/,
  )
  expect(waitedMs).toBe(3000)
  await database.close()
})
