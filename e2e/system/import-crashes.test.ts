import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import {
  importOne,
  openSource,
  readImportRow,
  sendFile,
  wantedStart,
} from '../../test/support/import-site.ts'
import { longUnless } from '../../test/support/long.ts'
import { SHORT_TERMS, startUploadNode, type UploadNode } from '../../test/support/start-upload-node.ts'
import type { UploadNodeOptions } from '../../test/support/upload-node.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024
const ETAG = '"one"'
const TERMS = { lookMs: 100, claimMs: 1500, renewMs: 300 }
let database: DatabaseHandle & { url: string }
let site: Site
let nodes: UploadNode[] = []

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database, { pipe: { source: { http: true, url: true } } })
})
afterEach(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  nodes = []
})
afterAll(async () => {
  await site?.close()
  await database?.close()
})

async function start(killAt?: UploadNodeOptions['killAt']) {
  const options = { databaseUrl: database.url, terms: SHORT_TERMS, importTerms: TERMS, killAt }
  const node = await startUploadNode(options)
  nodes.push(node)
  return node
}

describe('an import whose source breaks off and whose nodes are killed in turn', () => {
  const whole = randomBytes(40 * MiB)
  const digest = `sha-256:${createHash('sha256').update(whole).digest('hex')}`
  for (const [what, asked] of [
    ['without a digest', {}],
    ['with a digest', { digest }],
  ] as const) {
    const name = `${what} continues where it stopped, and fetches each byte once, except those in flight`
    it(name, longUnless('digest' in asked), async () => {
      let sentBytes = 0
      const source = await openSource((req, res) => {
        sentBytes += Math.min(12 * MiB, whole.length - wantedStart(req, ETAG))
        sendFile(req, res, { bytes: whole, etag: ETAG, cutAfter: 12 * MiB })
      })
      const id = await importOne(site, { url: `${source.url}/film.mp4`, ...asked })
      const one = await start('part recorded')
      await one.ended
      const two = await start('part recorded')
      await two.ended
      await start()
      await expect
        .poll(async () => readImportRow(database.db, id), { timeout: 60_000, interval: 100 })
        .toMatchObject({ status: 'transferred', isDue: false })
      expect((await site.bucket.object(`${id}/film.mp4`)).equals(whole)).toBe(true)
      // Each earlier writer had requested at most 12 MiB when it died or, in one case, when its lease expired.
      const fence = sql`select lease_fence::int as writers from files where id = ${id}::uuid`
      const [{ writers }] = (await rows<{ writers: number }>(database.db, fence)) as [{ writers: number }]
      expect(writers).toBeGreaterThanOrEqual(3)
      expect(sentBytes).toBeLessThanOrEqual(whole.length + (writers - 1) * 12 * MiB)
      // The state of a digest is stored periodically, and these nodes died before it was stored for the first time.
      const fromStart = source.requests.filter(({ range }) => range === undefined)
      expect(fromStart.length).toBeLessThanOrEqual('digest' in asked ? 3 : 1)
      await source.close()
    })
  }
})
