import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { days, hours } from '../../platform/kernel/clock.ts'
import { openUpload } from './open-upload.ts'

const MiB = 1024 * 1024
describe('an upload that is opened', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  const fileOf = async (url: string) => {
    const look = sql`select lease_until::text as until, cardinality(continued_by) as continued from files
      where id = ${fileIdOf(url)}::uuid`
    return (await rows<{ until: string | null; continued: number }>(database.db, look))[0]!
  }

  it("is not locked by a request that cannot decrypt the bucket's credentials", async () => {
    const broken = await createSite(database)
    const client = await broken.client(node)
    const url = await client.begin(100)
    await database.db.execute(sql`update data_stores set secret_access_key_encrypted = '', updated_at = now()
      where id = ${broken.dataStore.id}::uuid`)
    expect((await client.patch(url, 0, randomBytes(50))).status).toBeGreaterThanOrEqual(500)
    expect(await fileOf(url)).toMatchObject({ until: null })
    await broken.close()
  })

  it('remembers the last hundred tokens that continued it', async () => {
    const url = (await (await site.client(node)).create(1000)).headers.location!
    const file = sql`id = ${fileIdOf(url)}::uuid`
    await database.db.execute(
      sql`update files set continued_by = (select array_agg(gen_random_uuid()) from generate_series(1, 99)) where ${file}`,
    )
    for (const offset of [0, 1, 2])
      expect((await (await site.client(node)).patch(url, offset, randomBytes(1))).status).toBe(204)
    expect(await fileOf(url)).toMatchObject({ continued: 100 })
    const last = sql`select t.id from tokens t join files f on t.id = f.continued_by[100]
      where f.id = ${fileIdOf(url)}::uuid and t.id = (select max(id::text)::uuid from tokens)`
    expect(await rows(database.db, last)).toHaveLength(1)
  })

  it('expires before the provider drops it, counted from its start', async () => {
    const r2 = await createSite(database, { pipe: { uploadExpirySeconds: 30 * 86_400 } })
    await database.db.execute(sql`update data_stores set provider = 'r2' where id = ${r2.dataStore.id}::uuid`)
    let client = await r2.client(node)
    const url = await client.begin(1000)
    const made = sql`select floor(extract(epoch from created_at) * 1000)::bigint as ms from files
      where id = ${fileIdOf(url)}::uuid`
    const madeMs = (await rows<{ ms: number }>(database.db, made))[0]!.ms
    site.clock.advance(days(5))
    r2.clock.advance(days(5))
    client = await r2.client(node)
    const reply = await client.patch(url, 0, randomBytes(10))
    expect(reply.status).toBe(204)
    const head = await client.head(url)
    const expires = new Date(madeMs + days(7) - hours(1)).toUTCString()
    for (const { headers } of [reply, head]) expect(headers['upload-expires']).toBe(expires)
    await r2.close()
  })

  it('binds no part based on a length that may still be refused', async () => {
    const client = await site.client(node)
    const url = await client.begin(null)
    expect((await client.patch(url, 0, randomBytes(1000))).status).toBe(204)
    const { context } = node
    const right = await context.rights.toContinue(client.token, {
      pipeId: site.pipe.id,
      fileId: fileIdOf(url),
    })
    const upload = (await openUpload(context, right, { bytes: 13 * MiB, lengthBytes: 12 * MiB }))!
    const look = sql`select cardinality(bound_ends) as bound from files where id = ${fileIdOf(url)}::uuid`
    expect(await rows(database.db, look)).toEqual([{ bound: 0 }])
    upload.lease.forget()
    await client.terminate(url)
  })

  it('sends no part before its number is bound', { tags: 'long' }, async () => {
    const client = await site.client(node)
    const whole = randomBytes(56 * MiB)
    const url = await client.begin(whole.length)
    const parts = { operation: 'UploadPart', key: `${fileIdOf(url)}/file` } as const
    for (const partNumber of [1, 2, 3, 4])
      site.bucket.faults.add({ ...parts, partNumber, effect: { kind: 'hold', gate: 'parts' } })
    // A body with a checksum records nothing along the way, so numbers are bound by separate statements.
    const checksum = `sha1 ${createHash('sha1').update(whole).digest('base64')}`
    const patching = client.patch(url, 0, whole, { 'Upload-Checksum': checksum })
    await site.bucket.traffic.until(parts, 3)
    const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>()
    const locking = database.db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from files where id = ${fileIdOf(url)}::uuid for update`)
      site.bucket.faults.release('parts')
      await unlocked
    })
    await blocked(database)
    await site.bucket.traffic.until({ ...parts, partNumber: 4, state: 'answered' })
    // By the time another upload has completed, any pending request would have arrived.
    await client.create(1000, {}, randomBytes(1000))
    expect(Math.max(...site.bucket.traffic.seen(parts).map(({ partNumber }) => partNumber!))).toBe(4)
    unlock()
    await locking
    expect((await patching).status).toBe(204)
    await Promise.all(node.context.background)
    expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })
})
