import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { CHECKPOINTS } from '#lib/uploads/upload-context.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { longUnless } from '../../test/support/long.ts'
import { nodesOn, SHORT_TERMS, type UploadNode } from '../../test/support/start-upload-node.ts'
import { openPausingProxy } from '../../test/support/tcp-proxies.ts'
import { fileIdOf, openPatch, type TusClient, tusCall, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

const MiB = 1024 * 1024
let database: DatabaseHandle & { url: string }
let site: Site
const start = nodesOn(() => database)

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  await database.db.execute(sql`
    insert into webhook_outputs (id, workspace_id, pipe_id, enabled, url, secret_encrypted)
    values (gen_random_uuid(), ${site.workspaceId}::uuid, ${site.pipe.id}, true, 'https://example.com', 'sealed')`)
})
afterEach(async () => {
  site.bucket.faults.clear()
})
afterAll(async () => {
  await site?.close()
  await database?.close()
})

/**
 * Acts like a patient client: requests the offset and sends the rest until everything has arrived. Returns the number
 * of bytes sent.
 */
async function finish(client: TusClient, url: string, whole: Buffer): Promise<number> {
  let sentBytes = 0
  for (;;) {
    const head = await client.head(url)
    if (head.status === 423) continue
    expect(head.status).toBe(200)
    const offset = Number(head.headers['upload-offset'])
    if (offset === whole.length) return sentBytes
    sentBytes += whole.length - offset
    await client.patch(url, offset, whole.subarray(offset))
  }
}

async function arrivesOnce(url: string, whole: Buffer): Promise<void> {
  const look = sql`select status,
    (select count(*)::int from events where file_id = f.id) as events,
    (select count(*)::int from upload_tails where file_id = f.id) as tails,
    (select count(*)::int from file_timeline where file_id = f.id and kind = 'completed') as completions,
    crc32 from files f where id = ${fileIdOf(url)}::uuid`
  await expect
    .poll(async () => (await rows(database.db, look))[0], { timeout: 60_000, interval: 100 })
    .toMatchObject({ status: 'transferred', events: 1, tails: 0, completions: 1 })
  expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
}

describe('kill -9', () => {
  for (const killAt of CHECKPOINTS) {
    const deciding = ['part recorded', 'object put'].includes(killAt)
    it(`after "${killAt}": the file is transferred once, with one event`, longUnless(deciding), async () => {
      const single = killAt === 'object put'
      const whole = randomBytes(single ? MiB : 20 * MiB)
      const doomed = await start({ killAt })
      const client = await site.client(doomed)
      const made = await client.create(whole.length).catch(() => undefined)
      if (!made) expect(killAt).toBe('upload created')
      const url = made?.headers.location ?? (await newestUpload(doomed))
      if (made) await client.patch(url, 0, whole).catch(() => {})
      await doomed.ended
      await start({ port: doomed.port, clockAheadMs: 60_000 })
      const sentAgain = await finish(client, url, whole)
      // Only the parts in flight and the one that was being filled may be sent again.
      if (killAt !== 'upload created')
        expect(sentAgain).toBeLessThanOrEqual(Math.min(whole.length, 4 * 8 * MiB))
      await arrivesOnce(url, whole)
      if (killAt !== 'multipart created')
        expect((await site.bucket.unfinished()).length).toBeLessThanOrEqual(1)
    })
  }

  const slowDown = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
  const reconciled = [
    ['a file of one part', MiB, ['object put', 'transferred']],
    [
      'a file whose last part is waiting',
      20 * MiB,
      ['part sent', 'part recorded', 'complete answered', 'transferred'],
    ],
  ] as const
  for (const [what, bytes, points] of reconciled)
    for (const killAt of points)
      it(
        `after "${killAt}" in the reconciler, for ${what}: the file is transferred once, with one event`,
        longUnless(killAt === 'object put'),
        async () => {
          const whole = randomBytes(bytes)
          const first = await start({ terms: { ...SHORT_TERMS, assembleMs: 100 } })
          const client = await site.client(first)
          const url = await client.begin(bytes)
          site.bucket.faults.add({ operation: 'PutObject', times: 100, effect: slowDown })
          site.bucket.faults.add({ operation: 'UploadPart', partNumber: 3, times: 100, effect: slowDown })
          expect((await client.patch(url, 0, whole)).status).toBe(204)
          first.signal('SIGKILL')
          await first.ended
          site.bucket.faults.clear()
          await (await start({ killAt, clockAheadMs: 60_000 })).ended
          await start({ clockAheadMs: 600_000 })
          await arrivesOnce(url, whole)
          expect(await site.bucket.unfinished()).not.toContain(expect.stringContaining(fileIdOf(url)))
        },
      )

  for (const killAt of ['multipart created', 'part sent', 'complete answered', 'transferred'] as const)
    it(
      `after "${killAt}" while joining uploads: the file is transferred once, with one event, and none of its pieces are left`,
      longUnless(killAt === 'transferred'),
      async () => {
        const actions = [
          's3:PutObject',
          's3:GetObject',
          's3:DeleteObject',
          's3:AbortMultipartUpload',
        ] as const
        const joining = await createSite(database, { bucket: { actions: [...actions] } })
        await database.db.execute(
          sql`update data_stores set may_read = true, may_delete = true where id = ${joining.dataStore.id}::uuid`,
        )
        const first = await start()
        const token = await joining.token()
        const client = tusClient({ url: first.url, pipeId: joining.pipe.id, token })
        const pieces = [randomBytes(6 * MiB), randomBytes(1000)]
        const urls: string[] = []
        for (const piece of pieces) {
          const url = await client.begin(piece.length, { 'Upload-Concat': 'partial' })
          expect((await client.patch(url, 0, piece)).status).toBe(204)
          urls.push(url)
        }
        await first.stop()
        const doomed = await start({ killAt, port: first.port })
        const headers = { 'Upload-Concat': `final;${urls.join(' ')}` }
        await tusCall({ method: 'POST', url: client.collection, token, headers }).catch(() => {})
        await doomed.ended
        const joiner = await start({ clockAheadMs: 600_000 })
        const look = sql`select id, status from files where pipe_id = ${joining.pipe.id} and concat = 'final'`
        const final = async () => (await rows<{ id: string; status: string }>(database.db, look))[0]!
        await expect
          .poll(async () => (await final()).status, { timeout: 60_000, interval: 100 })
          .toBe('transferred')
        const key = `${(await final()).id}/file`
        // The pieces are deleted a minute later, when no late request can create one of them again.
        await joiner.stop()
        await start({ clockAheadMs: 800_000 })
        await expect.poll(() => joining.bucket.objects(), { timeout: 60_000, interval: 100 }).toEqual([key])
        expect((await joining.bucket.object(key)).equals(Buffer.concat(pieces))).toBe(true)
        // A multipart upload that was created but not recorded remains, since its id is unknown.
        expect(await joining.bucket.unfinished()).toHaveLength(killAt === 'multipart created' ? 1 : 0)
        await joining.close()
      },
    )

  async function newestUpload(node: UploadNode): Promise<string> {
    const [row] = await rows<{ id: string }>(database.db, sql`select id from files order by id desc limit 1`)
    return `${node.url}/pipes/${site.pipe.id}/files/${row!.id}`
  }
})

describe('a node frozen past its lease', () => {
  it('changes nothing when it resumes, not even with a part it was sending', async () => {
    const whole = randomBytes(30 * MiB)
    const [frozen, other] = [await start(), await start()]
    const client = await site.client(frozen)
    const url = await client.begin(whole.length)
    const there = other.url + new URL(url).pathname
    site.bucket.faults.add({ operation: 'UploadPart', at: 'body', effect: { kind: 'hold', gate: 'part' } })
    const patch = openPatch(client, url, { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, 12 * MiB))
    await site.bucket.traffic.until({ operation: 'UploadPart', key: `${fileIdOf(url)}/file` })
    frozen.signal('SIGSTOP')
    const elsewhere = await site.client(other)
    let head = await elsewhere.head(there)
    while (head.status === 423) head = await elsewhere.head(there)
    const offset = Number(head.headers['upload-offset'])
    const middle = offset + 10 * MiB
    expect((await elsewhere.patch(there, offset, whole.subarray(offset, middle))).status).toBe(204)
    frozen.signal('SIGCONT')
    site.bucket.faults.release('part')
    patch.write(whole.subarray(12 * MiB)).catch(() => {})
    const woken = await patch.reply.catch(() => undefined)
    if (woken) expect([410, 423, 502, 503]).toContain(woken.status)
    expect((await elsewhere.head(there)).headers['upload-offset']).toBe(String(middle))
    expect((await elsewhere.patch(there, middle, whole.subarray(middle))).status).toBe(204)
    await arrivesOnce(url, whole)
  })
})

describe('a database that is unreachable for ten seconds', () => {
  it('makes HEAD return 423; then the client resumes, and nothing is lost', { tags: 'long' }, async () => {
    const proxy = await openPausingProxy(database.url)
    const node = await start({ databaseUrl: proxy.url })
    const client = await site.client(node)
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    const patch = openPatch(client, url, { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, 9 * MiB))
    await site.bucket.traffic.until({
      operation: 'UploadPart',
      key: `${fileIdOf(url)}/file`,
      state: 'answered',
    })
    proxy.pause()
    patch.write(whole.subarray(9 * MiB)).catch(() => {})
    expect((await client.head(url)).status).toBe(423)
    proxy.resume()
    await patch.reply.catch(() => {})
    await finish(client, url, whole)
    await arrivesOnce(url, whole)
    await node.stop()
    await proxy.close()
  })
})
