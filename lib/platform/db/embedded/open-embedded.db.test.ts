import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../log/log.ts'
import { type DatabaseHandle, type Place, rows } from '../database.ts'
import { openEmbedded } from './open-embedded.ts'

const log = createLogger('silent')

describe('the embedded database, in a folder whose path is too long for a socket', () => {
  const around = mkdtempSync(join(tmpdir(), 'sluice-embedded-'))
  const folder = join(around, 'long'.repeat(25), 'db')
  let database: DatabaseHandle
  let place: Place

  beforeAll(async () => {
    database = await openEmbedded(folder, { log })
    place = database.address as Place
  })
  afterAll(async () => {
    await database?.close()
    rmSync(around, { recursive: true })
  })

  const settingOf = async (name: string) => {
    const [row] = await rows<{ value: string }>(database.db, sql`select current_setting(${name}) as value`)
    return row!.value
  }

  it("keeps PostgreSQL's durability settings on", async () => {
    for (const name of ['fsync', 'synchronous_commit', 'full_page_writes', 'data_checksums']) {
      expect([name, await settingOf(name)]).toEqual([name, 'on'])
    }
  })

  it('is reachable only over loopback and with the password, and its files are accessible only to their owner', async () => {
    expect(place.host).toBe('127.0.0.1')
    expect(await settingOf('listen_addresses')).toBe('127.0.0.1')
    expect(await settingOf('unix_socket_directories')).toBe('')
    for (const password of ['', 'wrong']) {
      const stranger = postgres({ ...place, password, max: 1 })
      await expect(stranger`select 1`).rejects.toThrow(/password/)
      await stranger.end()
    }
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'sluice.password')).mode & 0o777).toBe(0o600)
  })

  it('can be shared with a command, but not with a second server', async () => {
    const command = await openEmbedded(folder, { log, share: true })
    expect(await rows(command.db, sql`select 1 as n`)).toEqual([{ n: 1 }])
    await command.close()
    await expect(openEmbedded(folder, { log })).rejects.toThrow(`in use by process ${process.pid}`)
    expect(await rows(database.db, sql`select 2 as n`)).toEqual([{ n: 2 }])
  })
})

it('does not terminate sessions that their clients close while it is stopping', {
  tags: 'long',
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-embedded-'))
  const lines: string[] = []
  const write = (line: string) => void lines.push(line)
  const { address, close } = await openEmbedded(join(folder, 'db'), { log: createLogger('debug', { write }) })
  const connect = () => postgres({ ...(address as Place), max: 1 })
  const takesSessions = async () => {
    const another = connect()
    const asked = another`select 1`
    return asked
      .then(() => true)
      .catch(() => false)
      .finally(() => another.end())
  }
  const client = connect()
  await client`select 1`
  const closed = close()
  await expect.poll(takesSessions).toBe(false)
  await client.end()
  await closed
  rmSync(folder, { recursive: true })
  expect(lines.filter((line) => line.includes('administrator'))).toEqual([])
})
