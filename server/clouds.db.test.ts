import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '../lib/platform/db/database.ts'
import { minutes } from '../lib/platform/kernel/clock.ts'
import { parseInput } from '../lib/platform/kernel/parse-input.ts'
import { repairDestinations } from '../lib/repairs/repair-destinations.ts'
import { createDataStore } from '../lib/workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '../lib/workspace/data-stores/data-store.ts'
import { saveDestinations } from '../lib/workspace/pipes/destinations.ts'
import { AzureError } from '../test/support/azure-error.ts'
import { CONTAINER, makeSas } from '../test/support/azure-signatures.ts'
import { type AzureStorage, startAzureStorage } from '../test/support/azure-storage.ts'
import { openTestDatabase } from '../test/support/databases.ts'
import { type GoogleCloud, startGoogleCloud } from '../test/support/google-cloud.ts'
import { longUnless } from '../test/support/long.ts'
import { fileIdOf, metadata } from '../test/support/tus-client.ts'
import {
  createSite,
  openTestBucket,
  type Site,
  serveUploads,
  type TestBucket,
} from '../test/support/upload-site.ts'
import { makeReady } from '../test/support/workspace.ts'

const MiB = 1024 * 1024
const READABLE = ['s3:PutObject', 's3:GetObject'] as const

describe('a file that goes to S3, Azure and Google', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let azure: AzureStorage
  let google: { bucket: TestBucket; cloud: GoogleCloud }
  let ids: { s3: string; azure: string; google: string }
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, { bucket: { actions: [...READABLE] } })
    const { runtime, actor, clock } = site
    azure = await startAzureStorage(clock)
    const bucket = await openTestBucket({ clock, actions: [...READABLE] })
    google = { bucket, cloud: await startGoogleCloud(clock, bucket) }
    const connect = async (fields: object) => {
      const store = await createDataStore(runtime, actor, parseInput(dataStoreInput, fields))
      await makeReady(database.db, store)
      return store.id
    }
    ids = {
      s3: site.dataStore.id,
      azure: await connect({
        name: 'Azure',
        provider: 'azure',
        endpoint: azure.endpoint,
        bucket: CONTAINER,
        sasToken: makeSas({ permissions: 'rcw' }),
      }),
      google: await connect({
        name: 'Google',
        provider: 'gcs',
        endpoint: google.cloud.endpoint,
        bucket: bucket.name,
        serviceAccountKey: google.cloud.keyFile,
      }),
    }
    await database.db.execute(sql`update data_stores set may_read = true, updated_at = now()`)
    node = await serveUploads(runtime, { terms: { trailMs: 1500, pollMs: 20 } })
  })
  afterAll(async () => {
    await node?.close()
    await azure?.close()
    await google?.cloud.close()
    await google?.bucket.close()
    await site?.close()
    await database?.close()
  })

  const sendTo = (...destinations: { dataStoreId: string; required: boolean }[]) =>
    database.db.transaction((tx) => saveDestinations(tx, site.actor, site.pipe.id, destinations))
  const required = (dataStoreId: string) => ({ dataStoreId, required: true })
  const bestEffort = (dataStoreId: string) => ({ dataStoreId, required: false })
  const settled = async () => {
    while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
  }
  async function upload(whole: Buffer, cutAt?: number): Promise<string> {
    const client = await site.client(node)
    const url = await client.begin(whole.length)
    if (cutAt) await client.patch(url, 0, whole.subarray(0, cutAt))
    expect((await client.patch(url, cutAt ?? 0, whole.subarray(cutAt))).status).toBe(204)
    await settled()
    return url
  }
  async function statesOf(url: string) {
    const found = await rows<{ status: string }>(
      database.db,
      sql`select status from file_destinations where file_id = ${fileIdOf(url)}::uuid order by position`,
    )
    return found.map(({ status }) => status)
  }
  const objectAt = {
    s3: (key: string) => site.bucket.object(key),
    azure: async (key: string) => azure.blobs.get(key)!.bytes,
    google: (key: string) => google.bucket.object(key),
  }
  async function expectAt(url: string, whole: Buffer, ...clouds: (keyof typeof objectAt)[]) {
    for (const cloud of clouds)
      expect((await objectAt[cloud](`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  }

  it.each([
    ['one part', 3 * MiB, undefined],
    ['several parts, after an interruption', 25 * MiB + 7, 11 * MiB],
  ])('is stored byte for byte in each of them: %s', async (_, bytes, cutAt) => {
    await sendTo(required(ids.s3), required(ids.azure), required(ids.google))
    const whole = randomBytes(bytes)
    const url = await upload(whole, cutAt)
    expect(await statesOf(url)).toEqual(['transferred', 'transferred', 'transferred'])
    await expectAt(url, whole, 's3', 'azure', 'google')
  })

  it('has the key that Azure gives it, which does not end in a dot', async () => {
    await sendTo(required(ids.azure))
    const client = await site.client(node)
    const whole = randomBytes(10)
    const url = await client.begin(10, { 'Upload-Metadata': metadata({ filename: 'report.' }) })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    const asked = sql`select key from file_destinations where file_id = ${fileIdOf(url)}::uuid`
    const [found] = await rows<{ key: string }>(database.db, asked)
    expect(azure.blobs.get(found!.key)?.bytes.equals(whole)).toBe(true)
  })

  it('is rejected before its first byte if a blob could not have its settings', async () => {
    await sendTo(required(ids.s3), required(ids.azure))
    const object = JSON.stringify({ tokensMaySet: ['metadata'] })
    const setObject = (value: string | null) =>
      database.db.execute(sql`update pipes set object = ${value}::jsonb where id = ${site.pipe.id}`)
    await setObject(object)
    const client = await site.client(node, { object: { metadata: { 'scene-1': 'x' } } })
    const { status, body } = await client.create(10)
    expect([status, body]).toEqual([400, expect.stringContaining('its metadata has the name scene-1')])
    await sendTo(required(ids.s3), bestEffort(ids.azure))
    expect((await client.create(10)).status).toBe(201)
    await setObject(null)
  })

  const refusals = {
    azure(refuses: boolean) {
      azure.before = refuses
        ? () => {
            throw new AzureError(403, 'AuthorizationPermissionMismatch')
          }
        : undefined
    },
    s3(refuses: boolean) {
      const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
      if (refuses) site.bucket.faults.add({ operation: 'any', effect, times: 1000 })
      else site.bucket.faults.clear()
    },
  }

  for (const [from, to, bytes] of [
    ['s3', 'azure', 3 * MiB],
    ['s3', 'azure', 25 * MiB],
    ['azure', 's3', 25 * MiB],
    ['google', 'azure', 25 * MiB],
  ] as const) {
    const name = `is copied from ${from} to ${to} if it is missing there (${bytes} bytes)`
    it(name, longUnless(to === 's3'), async () => {
      await sendTo(required(ids[from]), bestEffort(ids[to]))
      const whole = randomBytes(bytes)
      refusals[to](true)
      const url = await upload(whole)
      expect(await statesOf(url)).toEqual(['transferred', 'failed'])
      refusals[to](false)
      site.clock.advance(minutes(2))
      while ((await repairDestinations(node.context)) > 0) await settled()
      expect(await statesOf(url)).toEqual(['transferred', 'transferred'])
      await expectAt(url, whole, from, to)
    })
  }
})
