import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'

const SMALL = randomBytes(4096)
const ALLOWED = 'https://shop.example.com'

describeWithDatabase('the lease taken along with the token check', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database(), { pipe: { allowedOrigins: [ALLOWED] } })
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  const created = (client: TusClient) => client.begin(SMALL.length)
  const row = async (url: string) => {
    const found = await rows<{ status: string; fence: number; leased: boolean; continuedBy: number }>(
      database().db,
      sql`select status, lease_fence as fence, lease_until is not null as leased,
        cardinality(continued_by) as "continuedBy" from files where id = ${fileIdOf(url)}::uuid`,
    )
    return found[0]!
  }
  const untouched = { status: 'uploading', fence: 0, leased: false, continuedBy: 0 }
  const done = { status: 'transferred', fence: 1, leased: false, continuedBy: 0 }

  it('is granted to the token that created the upload, and to another token with the same subject', async () => {
    const client = await site.client(node, { subject: 'anna' })
    const [own, continued] = [await created(client), await created(client)]
    expect((await client.patch(own, 0, SMALL, { Origin: ALLOWED })).status).toBe(204)
    expect(await row(own)).toEqual(done)
    const other = await site.client(node, { subject: 'anna' })
    expect((await other.patch(continued, 0, SMALL)).status).toBe(204)
    expect(await row(continued)).toEqual({ ...done, continuedBy: 1 })
  })

  it('is not touched by a token that may not continue the upload', async () => {
    const url = await created(await site.client(node, { subject: 'anna' }))
    const stranger = await site.client(node, { subject: 'bert' })
    expect((await stranger.patch(url, 0, SMALL)).status).toBe(404)
    const client = await site.client(node, { subject: 'anna' })
    expect((await client.patch(url, 0, SMALL, { Origin: 'https://evil.example.com' })).status).toBe(403)
    await database().db.execute(sql`update tokens set revoked_at = now()`)
    expect((await client.patch(url, 0, SMALL)).status).toBe(401)
    expect(await row(url)).toEqual(untouched)
  })

  it('is not touched by an expired token with the same subject', async () => {
    const url = await created(await site.client(node, { subject: 'anna' }))
    const short = await site.client(node, { subject: 'anna', expiresIn: 60 })
    site.clock.advance(minutes(2))
    expect((await short.patch(url, 0, SMALL)).status).toBe(401)
    expect(await row(url)).toEqual(untouched)
  })

  it('is taken by a separate statement if the row is locked', async () => {
    const client = await site.client(node)
    const [locked, free] = [await created(client), await created(client)]
    const { promise: unlocked, resolve: unlock } = Promise.withResolvers<void>()
    const holding = Promise.withResolvers<void>()
    const locking = database().db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from files where id = ${locked.split('/').at(-1)!}::uuid for update`)
      holding.resolve()
      await unlocked
    })
    await holding.promise
    const behind = client.patch(locked, 0, SMALL)
    expect((await client.patch(free, 0, SMALL)).status).toBe(204)
    unlock()
    await locking
    expect((await behind).status).toBe(204)
    expect(await row(locked)).toEqual(done)
  })

  it('goes to only one of two simultaneous requests', async () => {
    const client = await site.client(node)
    const url = await created(client)
    const answers = await Promise.all([client.patch(url, 0, SMALL), client.patch(url, 0, SMALL)])
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(204)
    expect([409, 423]).toContain(statuses[1])
    expect(await row(url)).toMatchObject({ status: 'transferred', leased: false })
  })

  it("is released if the bucket's credentials cannot be decrypted", async () => {
    const client = await site.client(node)
    const url = await created(client)
    const broken = sql`update data_stores set secret_access_key_encrypted = 'broken', updated_at = now()`
    await database().db.execute(broken)
    expect((await client.patch(url, 0, SMALL)).status).toBe(503)
    expect(await row(url)).toEqual({ ...untouched, fence: 1 })
  })
})
