import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { longUnless } from '../../test/support/long.ts'
import { nodesOn } from '../../test/support/start-upload-node.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { createSite, type Site, type TestBucket } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024
const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
let database: DatabaseHandle & { url: string }
let site: Site
let buckets: TestBucket[]
const start = nodesOn(() => database)

beforeAll(async () => {
  database = await openTestDatabase()
  const readable = { actions: ['s3:PutObject' as const, 's3:GetObject' as const] }
  const copies = [true, false].map((required) => ({ required, bucket: readable }))
  site = await createSite(database, { bucket: readable, copies })
  buckets = [site.bucket, ...site.copies.map((one) => one.bucket)]
  await database.db.execute(sql`update data_stores set may_read = true, updated_at = now()`)
})
afterEach(async () => {
  for (const { faults } of buckets) faults.clear()
})
afterAll(async () => {
  await site?.close()
  await database?.close()
})

/** Expects the object at each destination, and one event for each status. */
async function isEverywhere(url: string, whole: Buffer, events: string[]): Promise<void> {
  const look = sql`select status, (select json_agg(missed_status order by id) from events where file_id = f.id) as events
    from files f where id = ${fileIdOf(url)}::uuid`
  await expect
    .poll(async () => (await rows(database.db, look))[0], { timeout: 60_000, interval: 100 })
    .toEqual({ status: 'transferred', events })
  for (const bucket of buckets) {
    const key = (await bucket.objects()).find((one) => one.startsWith(fileIdOf(url)))!
    expect((await bucket.object(key)).equals(whole)).toBe(true)
  }
}

describe('kill -9 between the acknowledgements of two required destinations', () => {
  for (const [what, bytes, operation] of [
    ['the first part', 20 * MiB, 'UploadPart'],
    ['the multipart creations', 20 * MiB, 'CreateMultipartUpload'],
    ['the completions', 20 * MiB, 'CompleteMultipartUpload'],
    ['the single-part files', MiB, 'PutObject'],
  ] as const) {
    const name = `of ${what}: no byte is confirmed before both destinations have it`
    it(name, longUnless(operation === 'PutObject'), async () => {
      const whole = randomBytes(bytes)
      const doomed = await start()
      const client = await site.client(doomed)
      const url = await client.begin(bytes)
      buckets[1]!.faults.add({ operation, effect: { kind: 'stall' }, times: 100 })
      const answered = buckets[0]!.traffic.until({
        operation,
        state: 'answered',
        key: `${fileIdOf(url)}/file`,
      })
      const patching = client.patch(url, 0, whole).catch(() => {})
      await answered
      doomed.signal('SIGKILL')
      await Promise.all([doomed.ended, patching])
      buckets[1]!.faults.clear()
      await start({ port: doomed.port, clockAheadMs: 60_000 })
      for (let at = -1; at < bytes; ) {
        const head = await client.head(url)
        if (head.status === 423) continue
        at = Number(head.headers['upload-offset'])
        if (operation !== 'CompleteMultipartUpload' && !(at === bytes)) expect(at).toBe(0)
        if (at < bytes) await client.patch(url, at, whole.subarray(at))
      }
      await isEverywhere(url, whole, ['transferred'])
    })
  }
})

describe('kill -9 of the worker that repairs a destination', () => {
  for (const killAt of [
    'multipart created',
    'part sent',
    'part recorded',
    'complete answered',
    'transferred',
  ] as const) {
    const name = `after "${killAt}": another worker continues, and the file is transferred once`
    it(name, longUnless(killAt === 'part recorded'), async () => {
      const whole = randomBytes(20 * MiB)
      buckets[2]!.faults.add({ operation: 'any', effect: REFUSED, times: 1000 })
      const first = await start()
      const client = await site.client(first)
      const url = await client.begin(whole.length)
      expect((await client.patch(url, 0, whole)).status).toBe(204)
      await expect.poll(() => site.statusOf(url)).toBe('partially_transferred')
      await first.stop()
      buckets[2]!.faults.clear()
      const doomed = await start({ killAt, clockAheadMs: 120_000 })
      await doomed.ended
      const sent = () => buckets[2]!.traffic.seen({ operation: 'UploadPart', status: 200 }).length
      const before = sent()
      await start({ clockAheadMs: 120_000 })
      await isEverywhere(url, whole, ['partially_transferred', 'transferred'])
      const left = { 'multipart created': 3, 'part sent': 3, 'part recorded': 2 } as Record<string, number>
      expect(sent() - before).toBe(left[killAt] ?? 0)
    })
  }
})
