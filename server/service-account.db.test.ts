import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { parseInput } from '../lib/platform/kernel/parse-input.ts'
import { dataStoreChanges } from '../lib/workspace/data-stores/data-store.ts'
import { listRejecting } from '../lib/workspace/data-stores/rejections.ts'
import { updateDataStore } from '../lib/workspace/data-stores/update-data-store.ts'
import { openTestDatabase } from '../test/support/databases.ts'
import { startGoogleCloud } from '../test/support/google-cloud.ts'
import { fileIdOf } from '../test/support/tus-client.ts'
import { createSite, serveUploads } from '../test/support/upload-site.ts'
import { makeReady } from '../test/support/workspace.ts'

it("uploads with a service account's key, and says on the Data Store if Google refuses the key", async () => {
  const database = await openTestDatabase()
  const site = await createSite(database)
  const { runtime, actor, dataStore, bucket, clock } = site
  const { endpoint, region, key } = bucket
  const cloud = await startGoogleCloud(clock, { endpoint, region, key })
  const google = { provider: 'gcs', endpoint: cloud.endpoint, serviceAccountKey: cloud.keyFile }
  await updateDataStore(runtime, actor, dataStore.id, parseInput(dataStoreChanges, google))
  await makeReady(database.db, dataStore)
  const node = await serveUploads(runtime)
  const client = await site.client(node)

  const whole = randomBytes(20 * 1024 * 1024)
  const url = await client.begin(whole.length)
  expect((await client.patch(url, 0, whole)).status).toBe(204)
  await Promise.all(node.context.background)
  expect((await bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  expect(cloud.issuing.requests).toBe(1)

  const keys = new Map(cloud.keys)
  cloud.keys.clear()
  cloud.grants.clear()
  const later = await client.begin(10)
  expect((await client.patch(later, 0, randomBytes(10))).status).toBe(502)
  expect(await listRejecting(runtime, actor)).toMatchObject([
    { id: dataStore.id, reason: expect.stringContaining('invalid_grant: Invalid grant: account not found') },
  ])
  for (const [id, one] of keys) cloud.keys.set(id, one)
  expect((await client.patch(later, 0, randomBytes(10))).status).toBe(204)

  await node.close()
  await cloud.close()
  await site.close()
  await database.close()
})
