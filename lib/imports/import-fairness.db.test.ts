/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import {
  importOne,
  openSource,
  readImportRow,
  sendFile,
  startImporting,
} from '../../test/support/import-site.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'

const MiB = 1024 * 1024
const ETAG = '"one"'
const PATIENCE = { timeout: 20_000, interval: 20 }

let database: DatabaseHandle
const sites: Site[] = []
beforeAll(async () => {
  database = await openTestDatabase()
  const options = { pipe: { source: { http: true, url: true } } }
  for (let n = 0; n < 4; n++) sites.push(await createSite(database, options))
})
afterAll(async () => {
  for (const site of sites) await site.close()
  await database?.close()
})

it('stops an import to make room for a waiting workspace, and continues it later', async () => {
  const [greedy, modest, ...others] = sites as [Site, Site, Site, Site]
  const bytes = randomBytes(24 * MiB)
  const ranges: string[] = []
  const stalled: (() => void)[] = []
  const source = await openSource((req, res) => {
    const { range } = req.headers
    if (range !== undefined) ranges.push(`${req.url} ${range}`)
    if (range !== undefined || req.url === '/modest.mp4') return sendFile(req, res, { bytes, etag: ETAG })
    // The source sends more than one part, and then stalls.
    const headers = { ETag: ETAG, 'Content-Type': 'video/mp4', 'Content-Length': bytes.length }
    res.writeHead(200, headers).write(bytes.subarray(0, 14 * MiB))
    if (req.url === '/other.mp4') stalled.push(() => res.end(bytes.subarray(14 * MiB)))
  })
  const begin = (site: Site, name: string) => importOne(site, { url: `${source.url}/${name}.mp4` })
  const rowOf = (id: string) => readImportRow(database.db, id)
  const theirs = await Promise.all(others.map((site) => begin(site, 'other')))
  const older = await begin(greedy, 'older')
  const newer = await begin(greedy, 'newer')
  const worker = await startImporting(greedy, { importTerms: { atOnce: 4, lookMs: 50, renewMs: 100 } })
  for (const id of [...theirs, older, newer])
    await expect.poll(async () => (await rowOf(id)).offsetBytes, PATIENCE).toBeGreaterThanOrEqual(5 * MiB)

  const third = await begin(modest, 'modest')
  await expect.poll(() => rowOf(third), PATIENCE).toMatchObject({ status: 'transferred' })
  for (const finish of stalled) finish()
  await expect.poll(() => rowOf(newer), PATIENCE).toMatchObject({ status: 'transferred', failures: 0 })
  expect(await rowOf(older)).toMatchObject({ status: 'uploading', failures: 0, lastError: null })
  // The newer import made room, and later continued where it had stopped. The others were not affected.
  expect(ranges).toEqual([expect.stringMatching(/^\/newer\.mp4 bytes=\d+-$/)])
  expect(Number(/=(\d+)/.exec(ranges[0]!)![1])).toBeGreaterThanOrEqual(5 * MiB)
  expect((await greedy.bucket.object(`${newer}/newer.mp4`)).equals(bytes)).toBe(true)
  expect((await modest.bucket.object(`${third}/modest.mp4`)).equals(bytes)).toBe(true)
  await worker.stop()
  await source.close()
})

/** A source that sends the first bytes of each file and then nothing more. */
async function openStalledSource() {
  await database.db.execute(sql`delete from imports`)
  const asked: string[] = []
  const source = await openSource((req, res) => {
    asked.push(req.url!)
    res.writeHead(200, { ETag: ETAG, 'Content-Type': 'video/mp4', 'Content-Length': 1024 }).write('first')
  })
  const begin = (site: Site, name: string) => importOne(site, { url: `${source.url}/${name}.mp4` })
  return { source, asked, begin }
}

it('keeps places free for other owners', async () => {
  const [greedy, modest] = sites as [Site, Site]
  const { source, asked, begin } = await openStalledSource()
  for (let n = 0; n < 4; n++) await begin(greedy, 'greedy')
  // No claim is renewed, so none gives up its place.
  const worker = await startImporting(greedy, { importTerms: { atOnce: 4, lookMs: 20, renewMs: 60_000 } })
  await expect.poll(() => asked, PATIENCE).toEqual(['/greedy.mp4', '/greedy.mp4'])
  await begin(modest, 'modest')
  await expect.poll(() => asked, PATIENCE).toContain('/modest.mp4')
  await worker.stop()
  await source.close()
})

it('stops no import for an owner who already has a place on the node', async () => {
  const [greedy, ...others] = sites as [Site, Site, Site, Site]
  const { source, asked, begin } = await openStalledSource()
  for (const site of others) await begin(site, 'other')
  for (let n = 0; n < 3; n++) await begin(greedy, 'greedy')
  const worker = await startImporting(greedy, { importTerms: { atOnce: 6, lookMs: 50, renewMs: 50 } })
  await expect.poll(() => asked.length, PATIENCE).toBe(6)

  await begin(others[0], 'another')
  const claims = () =>
    rows<{ claim: string; until: string }>(
      database.db,
      sql`select claim, claimed_until::text as until from imports where claim is not null order by claim`,
    )
  const before = await claims()
  for (let renewals = 0; renewals < 3; renewals++) {
    const { until } = (await claims())[0]!
    await expect.poll(async () => (await claims())[0]!.until, PATIENCE).not.toBe(until)
  }
  expect((await claims()).map(({ claim }) => claim)).toEqual(before.map(({ claim }) => claim))
  await worker.stop()
  await source.close()
})

it('limits how often imports of an owner are attempted in vain, and lets those of others pass', async () => {
  const [greedy, modest] = sites as [Site, Site]
  const asked: string[] = []
  const source = await openSource((req, res) => {
    asked.push(req.url!)
    if (req.url !== '/modest.mp4') return void res.destroy()
    return sendFile(req, res, { bytes: Buffer.from('modest'), etag: ETAG })
  })
  const begin = (site: Site, name: string) => importOne(site, { url: `${source.url}/${name}.mp4` })
  await database.db.execute(sql`delete from imports`)
  await begin(greedy, 'first')
  await begin(greedy, 'second')
  const third = await begin(modest, 'modest')
  const worker = await startImporting(greedy, {
    importTerms: { atOnce: 1, lookMs: 20, fruitlessPerSecond: 0.001 },
  })
  await expect
    .poll(() => readImportRow(database.db, third), PATIENCE)
    .toMatchObject({ status: 'transferred' })
  // A place is free, and the second import is due: another look does not claim it.
  expect(asked).toEqual(['/first.mp4', '/modest.mp4'])
  await worker.stop()
  await source.close()
})
