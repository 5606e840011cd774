import { randomBytes, randomUUID } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, openPatch, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, serveUploads } from '../../../test/support/upload-site.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { createRecentCommits } from '../../platform/db/recent-commits.ts'
import { newSecret } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'

/**
 * How a node handles an upload when a standby without the last commits is promoted; the loss is simulated by
 * rewinding rows.
 */
const MiB = 1024 * 1024

it.each([
  { size: 'one part', pieces: [0, 4 * MiB] },
  { size: 'several parts', pieces: [6 * MiB, 6 * MiB] },
])(
  'finds a finished file of $size with its checksum, even if the file has an older lease',
  async ({ pieces: [before, after] }) => {
    await using site = await openSite()
    const { db, client, recent, runtime } = site
    const whole = randomBytes(before! + after!)
    const url = await client.begin(whole.length)
    if (before) expect((await client.patch(url, 0, whole.subarray(0, before))).status).toBe(204)
    const rewind = await keepFile(db, fileIdOf(url), { isHeld: before! > 0 })
    expect((await client.patch(url, before!, whole.subarray(before!))).status).toBe(204)
    await rewind()

    await recent.redo(db, runtime.log)

    expect(await site.statusOf(url)).toBe('transferred')
    expect(await client.offset(url)).toBe(whole.length)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    const own = sql`select crc32::float8 as crc32 from files where id = ${fileIdOf(url)}::uuid`
    expect(await rows(db, own)).toEqual([{ crc32: crc32(whole) }])
  },
)

it.each([
  { lost: 'nothing', at: 'first' },
  { lost: 'the commits with its lease and its parts', at: 'first' },
  { lost: 'the commits with its lease and its parts', at: 'second' },
])(
  'continues an upload with its part numbers after losing $lost, repaired at the $at attempt',
  async ({ lost, at: tryOf }) => {
    await using site = await openSite()
    const { db, client, recent, runtime } = site
    const whole = randomBytes(24 * MiB)
    const url = await client.begin(whole.length)
    const rewind = await keepFile(db, fileIdOf(url), { isHeld: false })
    const patch = openPatch(client, url, { offset: 0, length: whole.length })
    await patch.write(whole.subarray(0, 14 * MiB))
    const look = sql`select offset_bytes::int as bytes from files where id = ${fileIdOf(url)}::uuid`
    await expect.poll(async () => (await rows<{ bytes: number }>(db, look))[0]!.bytes).toBeGreaterThan(0)
    if (lost !== 'nothing') await rewind()
    const lossy = losingAnswers(db)
    if (tryOf === 'second') lossy.fail(/bound_ends = own\.ends/)

    await recent.redo(lossy.db, runtime.log)

    expect((await patch.reply).status).toBe(423)
    const at = await client.offset(url)
    expect((await client.patch(url, at, whole.subarray(at))).status).toBe(204)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  },
)

it.each([
  { bytes: 'all bytes', length: 1, taking: /lease_holder = free\.claim/ },
  { bytes: 'some bytes', length: 2, taking: /lease_holder = \$/ },
])('ends a lease taken for $bytes if the response to taking it was lost', async ({ length, taking }) => {
  let lossy!: ReturnType<typeof losingAnswers>
  await using site = await openSite((runtime) => {
    lossy = losingAnswers(runtime.db)
    return { ...runtime, db: lossy.db, database: { ...runtime.database, db: lossy.db } }
  })
  const { db, client, recent, runtime } = site
  const url = await client.begin(length)
  lossy.lose(taking)
  expect((await client.patch(url, 0, Buffer.alloc(1))).status).toBe(503)
  const leased = sql`select 1 from files where id = ${fileIdOf(url)}::uuid and lease_until > now()`
  expect(await rows(db, leased)).toHaveLength(1)

  await recent.redo(db, runtime.log)

  expect(await rows(db, leased)).toHaveLength(0)
  expect((await client.patch(url, 0, Buffer.alloc(1))).status).toBe(204)
})

it('asks clients to try again if it does not know about their token or upload yet', async () => {
  await using site = await openSite()
  const { db, node, client, recent, runtime } = site
  const known = await client.begin(1)
  const unknown = `${client.collection}${randomUUID()}`
  const stranger = tusClient({ url: node.url, pipeId: site.pipe.id, token: newSecret('tmp_') })
  const ask = async () => {
    const replies = [
      await client.patch(unknown, 0, Buffer.alloc(1)),
      await stranger.patch(known, 0, Buffer.alloc(1)),
      await stranger.create(1),
    ]
    return replies.map(({ status }) => status)
  }
  expect(await ask()).toEqual([404, 401, 401])
  await recent.redo(db, runtime.log)
  expect(await ask()).toEqual([503, 503, 503])
  expect(runtime.logLines).toEqual([])
})

async function openSite(change = (runtime: Runtime) => runtime) {
  const database = await openTestDatabase()
  const site = await createSite(database)
  const node = await serveUploads(change(site.runtime))
  const client = await site.client(node)
  const close = async () => {
    await node.close()
    await site.close()
    await database.close()
  }
  return { ...site, ...database, node, client, [Symbol.asyncDispose]: close }
}

it('creates the object of a file whose client has its last response, even if its parts can no longer be read', async () => {
  let lossy!: ReturnType<typeof losingAnswers>
  await using site = await openSite((runtime) => {
    lossy = losingAnswers(runtime.db)
    return { ...runtime, db: lossy.db, database: { ...runtime.database, db: lossy.db } }
  })
  const { db, client, recent, runtime, bucket } = site
  const whole = randomBytes(12 * MiB)
  const url = await client.begin(whole.length)
  expect((await client.patch(url, 0, whole.subarray(0, 6 * MiB))).status).toBe(204)
  const rewind = await keepFile(db, fileIdOf(url), { isHeld: false })
  bucket.faults.add({
    operation: 'CompleteMultipartUpload',
    effect: { kind: 'refuse', status: 503, code: 'SlowDown' },
    times: 100,
  })
  lossy.fail(/select number, etag, crc32 from file_parts/, { after: 1 })
  expect((await client.patch(url, 6 * MiB, whole.subarray(6 * MiB))).status).toBe(204)
  expect(await site.statusOf(url)).toBe('transferring')
  bucket.faults.clear()
  await rewind()
  expect(await site.statusOf(url)).toBe('uploading')

  await recent.redo(db, runtime.log)

  await expect.poll(() => site.statusOf(url)).toBe('transferred')
  expect((await bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
})

it('records a finished file that a newly promoted server refused at first', async () => {
  let nowMs = 0
  const recent = createRecentCommits(() => nowMs)
  let lossy!: ReturnType<typeof losingAnswers>
  await using site = await openSite((runtime) => {
    lossy = losingAnswers(runtime.db)
    return { ...runtime, db: lossy.db, database: { ...runtime.database, db: lossy.db, recent } }
  })
  const { db, client, runtime } = site
  const url = await client.begin(MiB)
  const { later } = await recent.redo(db, runtime.log)
  lossy.fail(/with wanted as/)
  expect((await client.patch(url, 0, randomBytes(MiB))).status).toBe(503)

  const done = later()

  await expect.poll(() => site.statusOf(url)).toBe('transferred')
  nowMs = 120_000
  await done
})

it('stores no checksum for a partial upload that lost its last bytes', async () => {
  await using site = await openSite()
  const { db, client, recent, runtime } = site
  const whole = randomBytes(12 * MiB)
  await db.execute(sql`update data_stores set may_read = true, may_delete = true`)
  const url = await client.begin(whole.length, { 'Upload-Concat': 'partial' })
  expect((await client.patch(url, 0, whole.subarray(0, 6 * MiB))).status).toBe(204)
  const rewind = await keepFile(db, fileIdOf(url))
  expect((await client.patch(url, 6 * MiB, whole.subarray(6 * MiB))).status).toBe(204)
  await rewind()

  await recent.redo(db, runtime.log)

  const own = sql`select offset_bytes::int as bytes, crc32::float8 as crc32 from files where id = ${fileIdOf(url)}::uuid`
  expect(await rows(db, own)).toEqual([{ bytes: 6 * MiB, crc32: crc32(whole.subarray(0, 6 * MiB)) }])
})

it('cancels an upload again if its cancellation was lost', async () => {
  await using site = await openSite()
  const { db, client, recent, runtime } = site
  const url = await client.begin(2)
  expect((await client.patch(url, 0, Buffer.alloc(1))).status).toBe(204)
  const rewind = await keepFile(db, fileIdOf(url), { isHeld: false })
  expect((await client.terminate(url)).status).toBe(204)
  await rewind()
  expect(await site.statusOf(url)).toBe('uploading')

  await recent.redo(db, runtime.log)

  expect(await site.statusOf(url)).toBe('canceled')
})

/** Executes the next statement that matches, and breaks its connection before the response. */
function losingAnswers(db: Db) {
  let next: RegExp | undefined
  let runs = true
  let spared = 0
  const session = new Proxy(db._.session, {
    get(target, name) {
      const own = Reflect.get(target, name)
      if (name !== 'prepareQuery') return own
      return (query: { sql: string }, ...rest: unknown[]) => {
        const statement = own.call(target, query, ...rest)
        if (!next?.test(query.sql) || spared-- > 0) return statement
        next = undefined
        const execute = async () => {
          if (runs) await statement.execute()
          throw Object.assign(new Error('write CONNECTION_CLOSED'), { code: 'CONNECTION_CLOSED' })
        }
        return { execute }
      }
    },
  })
  const lossy = new Proxy(db, {
    get: (target, name) => (name === '_' ? { ...target._, session } : Reflect.get(target, name)),
  })
  return {
    db: lossy,
    lose(statement: RegExp) {
      next = statement
    },
    /** Makes matching statements fail without running, except for the first `after` of them. */
    fail(statement: RegExp, { after = 0 } = {}) {
      next = statement
      runs = false
      spared = after
    },
  }
}

const TABLES = ['file_parts', 'upload_tails'] as const

/** Returns a function that resets the file to its current state, under its last writer's lease. */
async function keepFile(db: Db, fileId: string, { isHeld = true } = {}): Promise<() => Promise<void>> {
  const own = sql`where file_id = ${fileId}::uuid`
  await db.execute(sql`create table kept_files as select * from files where id = ${fileId}::uuid`)
  for (const name of TABLES)
    await db.execute(
      sql`create table ${sql.identifier(`kept_${name}`)} as select * from ${sql.identifier(name)} ${own}`,
    )
  return async () => {
    await db.execute(sql`update files f set status = kept.status, offset_bytes = kept.offset_bytes, crc32 = kept.crc32,
      lease_holder = kept.lease_holder, lease_fence = kept.lease_fence,
      lease_until = case when ${isHeld} then now() + interval '1 minute' end, bound_ends = kept.bound_ends,
      recorded_parts = kept.recorded_parts, recorded_bytes = kept.recorded_bytes,
      finished_at = null, complete_sent_at = null
      from kept_files kept where f.id = kept.id`)
    await db.execute(sql`update file_destinations set status = 'pending', etag = null ${own}`)
    await db.execute(sql`delete from events ${own}`)
    for (const name of TABLES) {
      await db.execute(sql`delete from ${sql.identifier(name)} ${own}`)
      await db.execute(
        sql`insert into ${sql.identifier(name)} select * from ${sql.identifier(`kept_${name}`)}`,
      )
    }
  }
}
