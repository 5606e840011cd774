import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import type { TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { cancelUploadsToTurnedOffDataStores } from '../../recovery/cancel-uploads.ts'
import { checkDataStore } from '../../workspace/data-stores/check-data-store.ts'
import { updateDataStore } from '../../workspace/data-stores/update-data-store.ts'

const MiB = 1024 * 1024
type Node = Awaited<ReturnType<typeof serveUploads>>

describe('a Data Store that accepts nothing', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Node
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime, { terms: { workspaceTailBytes: 2 * MiB } })
    client = await site.client(node)
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  const storeId = () => sql`${site.dataStore.id}::uuid`
  const codeOf = ({ status, body }: { status: number; body: string }) => [status, JSON.parse(body).code]
  const creation = async () => {
    const reply = await client.create(1000)
    return reply.status === 201 ? 201 : codeOf(reply)
  }
  const notReady = [403, 'data_store_not_ready']

  it('accepts no uploads before a successful check, or after its bucket changed', async () => {
    await database.db.execute(sql`update data_stores set ready_at = null where id = ${storeId()}`)
    expect(await creation()).toEqual(notReady)
    await checkDataStore(site.runtime, site.actor, site.dataStore.id)
    expect(await creation()).toBe(201)
    // A Data Store that fails later does not affect uploads in progress.
    site.bucket.faults.add({
      operation: 'any',
      times: 100,
      effect: { kind: 'refuse', status: 403, code: 'No' },
    })
    const { check } = await checkDataStore(site.runtime, site.actor, site.dataStore.id)
    site.bucket.faults.clear()
    expect(check!.ok).toBe(false)
    expect(await creation()).toBe(201)
    await database.db.execute(sql`update files set status = 'canceled' where status = 'uploading'`)
    const change = (endpoint: string) =>
      updateDataStore(site.runtime, site.actor, site.dataStore.id, { endpoint })
    await change('http://nowhere.invalid')
    expect(await creation()).toEqual(notReady)
    await change(site.bucket.endpoint)
    expect(await creation()).toEqual(notReady)
  })

  it('accepts nothing while it is turned off, and its uploads in progress are canceled', async () => {
    await database.db.execute(sql`update data_stores set ready_at = now() where id = ${storeId()}`)
    const url = await client.begin(10)
    const turn = (at: string) =>
      database.db.execute(
        sql`update data_stores set turned_off_at = ${sql.raw(at)}, updated_at = now() where id = ${storeId()}`,
      )
    await turn('now()')
    expect(await creation()).toEqual(notReady)
    expect(codeOf(await client.patch(url, 0, Buffer.from('abc')))).toEqual(notReady)
    expect((await client.head(url)).status).toBe(403)
    expect(await cancelUploadsToTurnedOffDataStores(site.runtime)).toBeGreaterThan(0)
    expect(await site.statusOf(url)).toBe('canceled')
    await turn('null')
    expect((await client.head(url)).status).toBe(410)
    await database.db.execute(sql`update data_stores set ready_at = now() where id = ${storeId()}`)
    expect(await creation()).toBe(201)
  })

  it('accepts uploads once an earlier upload has succeeded', async () => {
    await database.db.execute(sql`update data_stores set ready_at = now() where id = ${storeId()}`)
    const url = await client.begin(3)
    await database.db.execute(sql`update data_stores set ready_at = null where id = ${storeId()}`)
    expect(await creation()).toEqual(notReady)
    expect((await client.patch(url, 0, Buffer.from('abc'))).status).toBe(204)
    expect(await creation()).toBe(201)
  })

  it('fills the database up to the cap of its workspace, and no further', async () => {
    const whole = randomBytes(6 * MiB)
    const [first, second] = [await client.begin(whole.length), await client.begin(whole.length)]
    expect((await client.patch(first, 0, whole.subarray(0, 2 * MiB))).status).toBe(204)
    await node.context.tailCap.refresh()
    for (const refused of [await client.create(1000), await client.patch(second, 0, whole)]) {
      expect(codeOf(refused)).toEqual([503, 'unavailable'])
      expect(refused.headers['retry-after']).toBe('60')
    }
    // The tail leaves the database once its part is full.
    expect((await client.patch(first, 2 * MiB, whole.subarray(2 * MiB))).status).toBe(204)
    await Promise.all(node.context.background)
    await node.context.tailCap.refresh()
    expect(await creation()).toBe(201)
    expect((await client.patch(second, 0, whole)).status).toBe(204)
  })
})
