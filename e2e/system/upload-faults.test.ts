import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import type { Effect, Phase } from '../../test/support/bucket-faults.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { longUnless } from '../../test/support/long.ts'
import { startUploadNode, type UploadNode } from '../../test/support/start-upload-node.ts'
import { fileIdOf, openPatch, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * Tests a bucket that fails in every possible way. The client requests the offset and continues, and the object must
 * equal its source.
 */
const MiB = 1024 * 1024
let database: DatabaseHandle & { url: string }
let site: Site
let node: UploadNode
let client: TusClient

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  const terms = { assembleMs: 3000 }
  node = await startUploadNode({ databaseUrl: database.url, terms, bucketSilenceMs: 700 })
  client = await site.client(node)
})
afterEach(() => site.bucket.faults.clear())
afterAll(async () => {
  await node?.stop()
  await site?.close()
  await database?.close()
})

const statusOf = async (url: string) => {
  const look = sql`select status, failure_reason as reason from files where id = ${fileIdOf(url)}::uuid`
  return (await rows<{ status: string; reason: string | null }>(database.db, look))[0]!
}

/**
 * Sends the file like a patient client. No response may contain an offset beyond the bytes sent, or lower than in an
 * earlier response.
 */
async function send(url: string, whole: Buffer, chunkBytes: number): Promise<void> {
  let offset = 0
  let sent = 0
  while (offset < whole.length) {
    const chunk = whole.subarray(offset, offset + chunkBytes)
    sent = Math.max(sent, offset + chunk.length)
    const reply = await client.patch(url, offset, chunk)
    expect([204, 502]).toContain(reply.status)
    const head = await client.head(url)
    if (head.status === 423) continue
    const now = Number(head.headers['upload-offset'])
    expect(now).toBeGreaterThanOrEqual(offset)
    expect(now).toBeLessThanOrEqual(sent)
    offset = now
  }
}

async function arrives(url: string, whole: Buffer, at: Site = site): Promise<void> {
  // The reconciler waits at least ten seconds between attempts, so each check moves the last one back by an hour.
  const later = sql`update files set complete_sent_at = complete_sent_at - interval '1 hour'
    where id = ${fileIdOf(url)}::uuid and status = 'transferring'`
  const look = () => database.db.execute(later).then(() => statusOf(url))
  await expect.poll(look, { timeout: 90_000, interval: 200 }).toMatchObject({ status: 'transferred' })
  expect((await at.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
}

const refuse = (status: number, code: string): Effect => ({ kind: 'refuse', status, code })
const EFFECTS: [string, Effect, Phase][] = [
  ['500', refuse(500, 'InternalError'), 'request'],
  ['an error inside a 200', refuse(200, 'InternalError'), 'request'],
  ['a stall', { kind: 'stall' }, 'request'],
  ['a cut', { kind: 'cut' }, 'request'],
  ['a lost response', { kind: 'cut' }, 'answer'],
]
const OPERATIONS = [
  ['PutObject', MiB],
  ['CreateMultipartUpload', 18 * MiB],
  ['UploadPart', 18 * MiB],
  ['CompleteMultipartUpload', 18 * MiB],
] as const

for (const [row, [operation, bytes]] of OPERATIONS.entries())
  describe(operation, () => {
    for (const [column, [what, effect, at]] of EFFECTS.entries()) {
      // Each operation and each effect decides once.
      const deciding = column % OPERATIONS.length === row
      it(`failing with ${what}: the object equals its source`, longUnless(deciding), async () => {
        const whole = randomBytes(bytes)
        const url = await client.begin(whole.length)
        site.bucket.faults.add({ operation, key: `${fileIdOf(url)}/file`, call: 1, times: 2, at, effect })
        await send(url, whole, 10 * MiB)
        await arrives(url, whole)
      })
    }
  })

describe('an upload that the bucket no longer knows about', () => {
  it.each(['UploadPart', 'CompleteMultipartUpload'] as const)(
    'fails at %s, and reports the reason',
    async (operation) => {
      const whole = randomBytes(18 * MiB)
      const url = await client.begin(whole.length)
      site.bucket.faults.add({
        operation,
        key: `${fileIdOf(url)}/file`,
        times: 100,
        effect: refuse(404, 'NoSuchUpload'),
      })
      expect((await client.patch(url, 0, whole)).status).toBe(502)
      // On a busy machine, the bucket may have been silent for too long before, so that the client has to continue.
      const goOn = async () => {
        const { status, headers } = await client.head(url)
        const offset = Number(headers['upload-offset'])
        if (status === 200) await client.patch(url, offset, whole.subarray(offset))
        return statusOf(url)
      }
      await expect.poll(goOn).toMatchObject({ status: 'failed', reason: expect.any(String) })
      expect((await client.head(url)).status).toBe(410)
    },
  )
})

describe('a provider that requires equal parts', () => {
  it('receives equal parts, however often the upload is interrupted', async () => {
    const r2 = await createSite(database)
    await database.db.execute(sql`update data_stores set provider = 'r2' where id = ${r2.dataStore.id}::uuid`)
    const theirs = await r2.client(node)
    const whole = randomBytes(40 * MiB + 12_345)
    const url = await theirs.begin(whole.length)
    const effect = { kind: 'hold', gate: 'complete' } as const
    r2.bucket.faults.add({ operation: 'CompleteMultipartUpload', effect })
    for (const cut of [1, 5 * MiB, 7 * MiB + 1, 13 * MiB, 22 * MiB + 9, 30 * MiB]) {
      const offset = await theirs.offset(url)
      const patch = openPatch(theirs, url, { offset, length: whole.length - offset })
      await patch.write(whole.subarray(offset, cut))
      patch.cut()
    }
    const offset = await theirs.offset(url)
    const last = theirs.patch(url, offset, whole.subarray(offset))
    await r2.bucket.traffic.until({ operation: 'CompleteMultipartUpload', key: `${fileIdOf(url)}/file` })
    const look = sql`select size_bytes as size from file_parts where file_id = ${fileIdOf(url)}::uuid order by number`
    const sizes = (await rows<{ size: number }>(database.db, look)).map(({ size }) => size)
    expect(new Set(sizes.slice(0, -1))).toEqual(new Set([8 * MiB]))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(whole.length)
    r2.bucket.faults.clear()
    expect((await last).status).toBe(204)
    await arrives(url, whole, r2)
    expect(await r2.bucket.unfinished()).toEqual([])
    await r2.close()
  })
})
