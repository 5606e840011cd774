import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '#lib/workspace/data-stores/data-store.ts'
import { saveDestinations } from '#lib/workspace/pipes/destinations.ts'
import { CONTAINER, makeSas } from '../../test/support/azure-signatures.ts'
import { type AzureStorage, startAzureStorage } from '../../test/support/azure-storage.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { longUnless } from '../../test/support/long.ts'
import { nodesOn } from '../../test/support/start-upload-node.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'
import { makeReady } from '../../test/support/workspace.ts'

const MiB = 1024 * 1024
let database: DatabaseHandle & { url: string }
let site: Site
let azure: AzureStorage
const start = nodesOn(() => database)

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database)
  const { runtime, actor, pipe, clock } = site
  azure = await startAzureStorage(clock)
  const { endpoint } = azure
  const fields = { name: 'Azure', provider: 'azure', endpoint, bucket: CONTAINER, sasToken: makeSas() }
  const store = await createDataStore(runtime, actor, parseInput(dataStoreInput, fields))
  await makeReady(database.db, store)
  const destinations = [{ dataStoreId: store.id, required: true }]
  await database.db.transaction((tx) => saveDestinations(tx, actor, pipe.id, destinations))
})
afterEach(async () => {
  Object.assign(azure, { before: undefined, after: undefined })
})
afterAll(async () => {
  await azure?.close()
  await site?.close()
  await database?.close()
})

async function finish(client: Awaited<ReturnType<Site['client']>>, url: string, whole: Buffer) {
  for (let at = 0; at < whole.length; ) {
    const head = await client.head(url)
    if (head.status === 423) continue
    expect(head.status).toBe(200)
    at = Number(head.headers['upload-offset'])
    if (at < whole.length) await client.patch(url, at, whole.subarray(at)).catch(() => {})
  }
}

async function arrives(url: string, whole: Buffer): Promise<void> {
  const look = sql`select status from files where id = ${fileIdOf(url)}::uuid`
  await expect
    .poll(async () => (await rows(database.db, look))[0], { timeout: 60_000, interval: 100 })
    .toEqual({ status: 'transferred' })
  expect(azure.blobs.get(`${fileIdOf(url)}/file`)!.bytes.equals(whole)).toBe(true)
}

describe('an upload to Azure', () => {
  for (const [killAt, bytes] of [
    ['part sent', 20 * MiB],
    ['part recorded', 20 * MiB],
    ['transferring', 20 * MiB],
    ['complete answered', 20 * MiB],
    ['object put', MiB],
  ] as const) {
    const name = `is resumed after its node was killed (kill -9) at "${killAt}"`
    it(name, longUnless(killAt === 'complete answered'), async () => {
      const whole = randomBytes(bytes)
      const doomed = await start({ killAt })
      const client = await site.client(doomed)
      const url = await client.begin(bytes)
      await client.patch(url, 0, whole).catch(() => {})
      await doomed.ended
      await start({ port: doomed.port, clockAheadMs: 60_000 })
      await finish(client, url, whole)
      await arrives(url, whole)
    })
  }

  it('sends a part whose response was lost as the same block again', { tags: 'long' }, async () => {
    const whole = randomBytes(20 * MiB)
    const node = await start()
    const client = await site.client(node)
    const url = await client.begin(whole.length)
    const cut = new Set<string>()
    azure.after = (operation, request) => {
      const block = new URL(request.url!, azure.endpoint).searchParams.get('blockid')
      if (operation !== 'PutBlock' || cut.has(block!)) return
      cut.add(block!)
      request.socket.destroy()
    }
    await client.patch(url, 0, whole).catch(() => {})
    await finish(client, url, whole)
    await arrives(url, whole)
    const sent = azure.seen.filter(
      ({ operation, key }) => operation === 'PutBlock' && key.startsWith(fileIdOf(url)),
    )
    expect(new Set(sent.map(({ blockId }) => blockId)).size).toBe(3)
    expect(sent.length).toBe(6)
  })
})
