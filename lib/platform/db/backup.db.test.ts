import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, inject, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { createDatabase } from '../../../test/support/postgres.ts'
import { keystream } from '../../../test/support/random.ts'
import { fileIdOf, openPatch, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { restoreBackup, writeBackup } from './backup.ts'
import { type DatabaseHandle, rows } from './database.ts'
import { openPostgres } from './open-postgres.ts'

const MiB = 1024 * 1024
const CONTENT = keystream(18 * MiB)
const folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
const file = join(folder, 'sluice.backup')
let database: DatabaseHandle
let site: Site

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
})
afterAll(async () => {
  await site?.close()
  await database?.close()
  rmSync(folder, { recursive: true })
})

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

async function openEmpty(): Promise<DatabaseHandle> {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  closing.push(drop, handle.close)
  return handle
}

async function clientOn(handle: DatabaseHandle, token: string) {
  const node = await serveUploads({ ...site.runtime, database: handle, db: handle.db })
  closing.push(() => node.close())
  return tusClient({ url: node.url, pipeId: site.pipe.id, token })
}

it('restores nothing from a file that is incomplete, from a different version, or not a backup', async () => {
  await writeBackup(database.address, file)
  const text = readFileSync(file, 'utf8')
  const bad = join(folder, 'bad.backup')
  const restored = await openEmpty()
  for (const [content, reason] of [
    [text.slice(0, -12), 'ends too soon'],
    [text.slice(0, -20), 'is damaged'],
    [text.slice(0, text.indexOf('\n\\.') + 1), 'ends too soon'],
    [text.replace('"migrations":["', '"migrations":["unknown","'), 'a different version of Sluice'],
    [text.replace(/^COPY/m, 'DELETE'), 'is damaged'],
    ['select 1', 'is not a Sluice backup'],
  ] as const) {
    writeFileSync(bad, content)
    await expect(restoreBackup(restored, bad)).rejects.toThrow(reason)
  }
  await restoreBackup(restored, file)
  expect(await rows(restored.db, sql`select 1 as n from users`)).toHaveLength(1)
})

it('captures uploads at a single point in time, and lets them continue in another database', async () => {
  const token = await site.token()
  const before = await clientOn(database, token)
  const resting = await before.begin(CONTENT.length)
  expect((await before.patch(resting, 0, CONTENT.subarray(0, 7 * MiB + 13))).status).toBe(204)
  const running = await before.begin(CONTENT.length)
  const patch = openPatch(before, running, { offset: 0, length: CONTENT.length })
  patch.write(CONTENT.subarray(0, 9 * MiB))

  await writeBackup(database.address, file)
  patch.write(CONTENT.subarray(9 * MiB))
  patch.end()
  expect((await patch.reply).status).toBe(204)
  expect((await before.head(running)).headers['upload-offset']).toBe(String(CONTENT.length))

  const restored = await openEmpty()
  await restoreBackup(restored, file)
  await restored.db.execute(sql`update files set lease_until = now() - interval '1 second'`)
  const after = await clientOn(restored, token)
  for (const { url, least, most } of [
    { url: resting, least: 7 * MiB + 13, most: 7 * MiB + 13 },
    { url: running, least: 0, most: 9 * MiB },
  ]) {
    const here = `${after.collection}${fileIdOf(url)}`
    const offset = await after.offset(here)
    expect(offset).toBeGreaterThanOrEqual(least)
    expect(offset).toBeLessThanOrEqual(most)
  }
  const url = `${after.collection}${resting.split('/').at(-1)}`
  expect((await after.patch(url, 7 * MiB + 13, CONTENT.subarray(7 * MiB + 13))).status).toBe(204)
  expect((await site.bucket.object(`${resting.split('/').at(-1)}/file`)).equals(CONTENT)).toBe(true)
})

it('restores every row of every table', { tags: 'long' }, async () => {
  await writeBackup(database.address, file)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const restored = await openEmpty()
  await restoreBackup(restored, file)
  const again = join(folder, 'again.backup')
  await writeBackup(restored.address, again)
  expect(readFileSync(again, 'utf8').split('\n').sort()).toEqual(
    readFileSync(file, 'utf8').split('\n').sort(),
  )
  await expect(restoreBackup(restored, file)).rejects.toThrow('The database is already in use')
})
