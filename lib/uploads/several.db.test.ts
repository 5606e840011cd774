import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../test/support/databases.ts'
import { httpCall } from '../../test/support/http-call.ts'
import { fileIdOf, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { hours, minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { recordDestinationFailure } from './ledger/transferred.ts'

const MiB = 1024 * 1024
const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
const DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
const REJECTED = { kind: 'refuse', status: 400, code: 'EntityTooLarge' } as const

describe('a file with two required destinations and one best-effort destination', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  let buckets: TestBucket[]
  beforeAll(async () => {
    database = await openTestDatabase()
    const bucket = { actions: ['s3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'] as const }
    const copy = (required: boolean) => ({ required, bucket: { actions: [...bucket.actions] } })
    site = await createSite(database, { bucket: copy(true).bucket, copies: [copy(true), copy(false)] })
    await database.db.execute(sql`update data_stores set may_delete = true, may_abort = true, updated_at = now()
      where workspace_id = ${site.workspaceId}::uuid`)
    node = await serveUploads(site.runtime, { terms: { trailMs: 3000, pollMs: 20, assembleMs: 4000 } })
    buckets = [site.bucket, ...site.copies.map((one) => one.bucket)]
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  beforeEach(async () => {
    client = await site.client(node)
    for (const { faults } of buckets) faults.clear()
  })

  const settled = async () => {
    while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
  }
  const statesOf = async (url: string) => {
    await settled()
    const [file] = await rows<{ status: string; events: string[]; states: string[] }>(
      database.db,
      sql`select status, coalesce((select json_agg(e.missed_status order by e.id) from events e where e.file_id = f.id), '[]') as events,
        (select json_agg(concat_ws(' ', d.status, d.reason) order by d.position) from file_destinations d
          where d.file_id = f.id) as states
        from files f where f.id = ${fileIdOf(url)}::uuid`,
    )
    return file!
  }
  const expectEverywhere = async (url: string, whole: Buffer, at = buckets) => {
    for (const bucket of at) {
      const key = (await bucket.objects()).find((one) => one.startsWith(fileIdOf(url)))!
      expect((await bucket.object(key)).equals(whole)).toBe(true)
    }
    expect(await Promise.all(at.map((bucket) => bucket.unfinished()))).toEqual(at.map(() => []))
  }
  const partsOf = async (url: string) =>
    (await rows(database.db, sql`select 1 from file_parts where file_id = ${fileIdOf(url)}::uuid`)).length
  const everywhere = { status: 'transferred', events: ['transferred'], states: Array(3).fill('transferred') }
  const part = (reason: string) => ({
    status: 'partially_transferred',
    events: ['partially_transferred'],
    states: ['transferred', 'transferred', `failed ${reason}`],
  })

  it.each([
    ['no bytes', 0],
    ['one part', MiB],
    ['several parts', 20 * MiB],
  ])('of %s is the same at each destination', async (_, bytes) => {
    const whole = randomBytes(bytes)
    const url = await client.begin(bytes)
    if (bytes > 0) expect((await client.patch(url, 0, whole)).status).toBe(204)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it.each([
    ['one request for one part', MiB, 1],
    ['N + 2 requests for N parts', 40 * MiB, 5 + 2],
  ])('makes %s at each destination', async (_, bytes, requests) => {
    const countOf = ({ traffic }: TestBucket) =>
      Object.values(traffic.counts()).reduce((sum, count) => sum + count, 0)
    const before = buckets.map(countOf)
    const url = await client.begin(bytes)
    expect((await client.patch(url, 0, randomBytes(bytes))).status).toBe(204)
    expect(await statesOf(url)).toEqual(everywhere)
    expect(buckets.map((bucket, n) => countOf(bucket) - before[n]!)).toEqual(Array(3).fill(requests))
  })

  const inLanes = async (whole: Buffer, between = async () => {}) => {
    const reply = await client.create(whole.length, { 'Upload-Lanes': '3' })
    const lanes: { url: string; firstByte: number; length: number }[] = JSON.parse(reply.body).lanes
    expect(lanes).toHaveLength(3)
    for (const { url, firstByte, length } of lanes) {
      const { status } = await client.patch(url, 0, whole.subarray(firstByte, firstByte + length))
      expect(status).toBe(204)
      await between()
    }
    return reply.headers.location!
  }

  it('is the same at each destination if it arrives in lanes', async () => {
    const whole = randomBytes(30 * MiB)
    const url = await inLanes(whole)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it('abandons a best-effort destination for all lanes at its first fault in one', async () => {
    const whole = randomBytes(30 * MiB)
    const url = await inLanes(whole, async () => {
      buckets[2]!.faults.add({ operation: 'UploadPart', effect: REFUSED })
    })
    expect(await statesOf(url)).toEqual(part('rejected'))
    site.clock.advance(minutes(2))
    expect(await clearLeftovers(node.context)).toBe(1)
    expect(await buckets[2]!.unfinished()).toEqual([])
  })

  it('counts its bytes for each destination in the metrics, and once as confirmed', async () => {
    const { bucketBytes, uploadBytes } = site.runtime.metrics
    const sum = async () => {
      const [sent, confirmed] = await Promise.all([bucketBytes.get(), uploadBytes.get()])
      const of = (operation: string) =>
        sent.values.find(({ labels }) => labels.operation === operation)?.value ?? 0
      return [of('UploadPart'), confirmed.values[0]!.value]
    }
    const before = await sum()
    const url = await client.begin(20 * MiB)
    expect((await client.patch(url, 0, randomBytes(20 * MiB))).status).toBe(204)
    await settled()
    const after = await sum()
    expect(after.map((value, n) => value - before[n]!)).toEqual([3 * 20 * MiB, 20 * MiB])
  })

  it('can be resumed in small pieces, which become tails', async () => {
    const whole = randomBytes(14 * MiB)
    const url = await client.begin(whole.length)
    for (let at = 0; at < whole.length; at += 3 * MiB)
      expect((await client.patch(url, at, whole.subarray(at, at + 3 * MiB))).status).toBe(204)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it('ends like any other file if its length was unknown', async () => {
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(null)
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    const headers = { 'Upload-Length': String(whole.length) }
    expect((await client.patch(url, whole.length, Buffer.alloc(0), headers)).status).toBe(204)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it.each([
    ['refuses one part', MiB, 'PutObject', REFUSED, 'rejected'],
    ['refuses several parts', 20 * MiB, 'UploadPart', REFUSED, 'rejected'],
    ['refuses to start', 20 * MiB, 'CreateMultipartUpload', REFUSED, 'rejected'],
    ['refuses to complete', 20 * MiB, 'CompleteMultipartUpload', REFUSED, 'rejected'],
    ['is down', 20 * MiB, 'UploadPart', DOWN, 'unavailable'],
  ] as const)(
    'is partially transferred if the best-effort destination %s',
    async (_, bytes, operation, effect, reason) => {
      const whole = randomBytes(bytes)
      const url = await client.begin(bytes)
      buckets[2]!.faults.add({ operation, effect, times: 100 })
      expect((await client.patch(url, 0, whole)).status).toBe(204)
      expect(await statesOf(url)).toEqual(part(reason))
      await expectEverywhere(url, whole, buckets.slice(0, 2))
      site.clock.advance(minutes(2))
      await clearLeftovers(node.context)
      expect(await buckets[2]!.unfinished()).toEqual([])
    },
  )

  it('is reported as partially transferred to a plain PUT', async () => {
    buckets[2]!.faults.add({ operation: 'UploadPart', effect: REFUSED, times: 100 })
    const url = `${client.collection}film.mp4`
    const whole = randomBytes(20 * MiB)
    const { status, body } = await httpCall({ method: 'PUT', url, token: client.token, body: whole })
    expect([status, JSON.parse(body)]).toMatchObject([
      201,
      { status: 'partially_transferred', checksum: expect.stringMatching(/^crc32:/) },
    ])
    await settled()
    site.clock.advance(minutes(2))
    await clearLeftovers(node.context)
  })

  it.each([
    ['one part', MiB, 'PutObject'],
    ['several', 20 * MiB, 'UploadPart'],
  ] as const)('does not wait for a hanging best-effort destination, with %s', async (_, bytes, operation) => {
    const whole = randomBytes(bytes)
    const url = await client.begin(bytes)
    buckets[2]!.faults.add({ operation, at: 'answer', effect: { kind: 'hold', gate: 'hung' }, times: 100 })
    expect(await client.patch(url, 0, whole)).toMatchObject({ status: 204 })
    expect(await statesOf(url)).toEqual(part('fell_behind'))
    await expectEverywhere(url, whole, buckets.slice(0, 2))
    buckets[2]!.faults.clear()
    site.clock.advance(minutes(2))
    await clearLeftovers(node.context)
    expect(node.context.budget.usedBytes).toBe(0)
  })

  it.each([
    ['whose credentials cannot be decrypted', sql`secret_access_key_encrypted = 'v1.broken'`],
    ['that is turned off', sql`turned_off_at = now()`],
  ])('continues without a best-effort destination %s', async (_, broken) => {
    const { id } = site.copies[1]!.dataStore
    const change = (set: SQL) =>
      database.db.execute(
        sql`update data_stores set ${set}, updated_at = clock_timestamp() where id = ${id}::uuid`,
      )
    const [before] = await rows<{ secret: string }>(
      database.db,
      sql`select secret_access_key_encrypted as secret from data_stores where id = ${id}::uuid`,
    )
    const sent = buckets[2]!.traffic.counts()
    await change(broken)
    try {
      for (const bytes of [MiB, 20 * MiB]) {
        const whole = randomBytes(bytes)
        const url = await client.begin(bytes)
        expect((await client.patch(url, 0, whole)).status).toBe(204)
        expect(await statesOf(url)).toEqual(part('rejected'))
        await expectEverywhere(url, whole, buckets.slice(0, 2))
      }
      expect(buckets[2]!.traffic.counts()).toEqual(sent)
    } finally {
      await change(sql`secret_access_key_encrypted = ${before!.secret}, turned_off_at = null`)
    }
  })

  it('waits in memory for a best-effort destination that starts after the others have parts', async () => {
    const whole = randomBytes(30 * MiB)
    const url = await client.begin(whole.length)
    const held = { kind: 'hold', gate: 'begins' } as const
    buckets[2]!.faults.add({ operation: 'CreateMultipartUpload', at: 'answer', effect: held })
    const patching = client.patch(url, 0, whole)
    await expect.poll(async () => (await partsOf(url)) > 0).toBe(true)
    buckets[2]!.faults.release('begins')
    expect((await patching).status).toBe(204)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it.each([
    ['one part', MiB, 'PutObject'],
    ['the last of several parts', 20 * MiB, 'UploadPart'],
    ['the Complete', 20 * MiB, 'CompleteMultipartUpload'],
  ] as const)('is completed later if a required destination is down for %s', async (_, bytes, operation) => {
    const whole = randomBytes(bytes)
    const url = await client.begin(bytes)
    const keep = operation === 'UploadPart' ? 16 * MiB : 0
    if (keep > 0) expect((await client.patch(url, 0, whole.subarray(0, keep))).status).toBe(204)
    buckets[1]!.faults.add({ operation, effect: DOWN, times: 100 })
    expect((await client.patch(url, keep, whole.subarray(keep))).status).toBe(204)
    expect((await statesOf(url)).status).toBe('transferring')
    buckets[1]!.faults.clear()
    site.clock.advance(hours(1))
    await reconcileUploads(node.context)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it('keeps a best-effort destination that has the last part, while a required one still refuses it', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    expect((await client.patch(url, 0, whole.subarray(0, 16 * MiB))).status).toBe(204)
    buckets[1]!.faults.add({ operation: 'UploadPart', effect: DOWN, times: 100 })
    expect((await client.patch(url, 16 * MiB, whole.subarray(16 * MiB))).status).toBe(204)
    site.clock.advance(hours(1))
    await reconcileUploads(node.context)
    expect(await statesOf(url)).toMatchObject({
      status: 'transferring',
      states: Array(3).fill('transferring'),
    })
    buckets[1]!.faults.clear()
    site.clock.advance(hours(1))
    await reconcileUploads(node.context)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it('is completed later if one of the required destinations is down from the first byte to the last', async () => {
    const whole = randomBytes(7 * MiB)
    const url = await client.begin(null)
    buckets[0]!.faults.add({ operation: 'UploadPart', effect: REFUSED, times: 100 })
    buckets[1]!.faults.add({ operation: 'CreateMultipartUpload', effect: DOWN, times: 100 })
    expect((await client.patch(url, 0, Buffer.concat([whole, randomBytes(2 * MiB)]))).status).toBe(502)
    expect(await client.offset(url)).toBe(0)
    buckets[0]!.faults.clear()
    expect((await client.patch(url, 0, whole.subarray(0, 3 * MiB))).status).toBe(204)
    const length = { 'Upload-Length': String(whole.length) }
    expect((await client.patch(url, 3 * MiB, whole.subarray(3 * MiB), length)).status).toBe(204)
    expect((await statesOf(url)).status).toBe('transferring')
    buckets[1]!.faults.clear()
    site.clock.advance(hours(1))
    await reconcileUploads(node.context)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it('fails if a required destination permanently rejects it, and leaves no object at the other', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    buckets[1]!.faults.add({ operation: 'CompleteMultipartUpload', effect: REJECTED })
    expect((await client.patch(url, 0, whole)).status).toBe(502)
    expect(await statesOf(url)).toMatchObject({
      status: 'failed',
      events: ['failed'],
      states: ['transferred', 'failed file_ended', expect.stringMatching(/^transferred|failed file_ended$/)],
    })
    site.clock.advance(minutes(2))
    await clearLeftovers(node.context)
    for (const bucket of buckets)
      expect((await bucket.objects()).filter((key) => key.startsWith(fileIdOf(url)))).toEqual([])
  })

  it('does not count bytes that a required destination is missing', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    buckets[1]!.faults.add({ operation: 'UploadPart', effect: REFUSED })
    expect((await client.patch(url, 0, whole)).status).toBe(502)
    const at = await client.offset(url)
    expect(at).toBeLessThan(whole.length)
    expect((await client.patch(url, at, whole.subarray(at))).status).toBe(204)
    expect(await statesOf(url)).toEqual(everywhere)
    await expectEverywhere(url, whole)
  })

  it.each([
    ['a file of one part', MiB, 'PutObject', 502],
    ['a part', 20 * MiB, 'UploadPart', 502],
    ['the Complete', 20 * MiB, 'CompleteMultipartUpload', 204],
  ] as const)('marks the Data Store that refused %s, and no other', async (_, bytes, operation, status) => {
    await database.db.execute(sql`update data_stores set rejecting_since = null, rejected_at = null`)
    const url = await client.begin(bytes)
    buckets[1]!.faults.add({ operation, effect: REFUSED, times: 100 })
    expect((await client.patch(url, 0, randomBytes(bytes))).status).toBe(status)
    await settled()
    const marked = await rows(
      database.db,
      sql`select id from data_stores where rejecting_since is not null and rejected_at is not null`,
    )
    expect(marked).toEqual([{ id: site.copies[0]!.dataStore.id }])
    buckets[1]!.faults.clear()
    await client.terminate(url)
    site.clock.advance(minutes(2))
    await reconcileUploads(node.context)
    await clearLeftovers(node.context)
  })

  it("is completed later if the database loses a best-effort destination's fault", async () => {
    const whole = randomBytes(MiB)
    const url = await client.begin(whole.length)
    await database.db.execute(sql`create function fail() returns trigger language plpgsql
      as $$ begin raise exception 'not now'; end $$`)
    await database.db.execute(sql`create trigger unrecorded before update on file_destinations
      for each row when (new.status = 'failed') execute function fail()`)
    buckets[2]!.faults.add({ operation: 'PutObject', effect: REFUSED, times: 100 })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    expect((await statesOf(url)).status).toBe('transferring')
    await database.db.execute(sql`drop function fail cascade`)
    site.clock.advance(minutes(1))
    await reconcileUploads(node.context)
    expect(await statesOf(url)).toEqual(part('rejected'))
    await expectEverywhere(url, whole, buckets.slice(0, 2))
  })

  it('does not revive an abandoned destination if its bucket accepts the object later', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    const held = { kind: 'hold', gate: 'completed' } as const
    for (const bucket of [buckets[0]!, buckets[2]!])
      bucket.faults.add({ operation: 'CompleteMultipartUpload', at: 'answer', effect: held })
    const patching = client.patch(url, 0, whole)
    const dataStoreId = site.copies[1]!.dataStore.id
    const fileId = fileIdOf(url)
    const isCompleting = async () =>
      (await buckets[2]!.objects()).some((key) => key.startsWith(fileId)) && (await partsOf(url)) > 0
    await expect.poll(isCompleting).toBe(true)
    const failure = { reason: 'fell_behind', detail: null } as const
    await recordDestinationFailure(database.db, { fileId, dataStoreId }, failure, site.clock.now())
    buckets[2]!.faults.release('completed')
    buckets[0]!.faults.release('completed')
    expect((await patching).status).toBe(204)
    expect(await statesOf(url)).toEqual(part('fell_behind'))
  })

  it('leaves nothing at any destination when it is canceled', async () => {
    const url = await client.begin(20 * MiB)
    expect((await client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await client.terminate(url)
    site.clock.advance(minutes(2))
    await clearLeftovers(node.context)
    for (const bucket of buckets) expect(await bucket.unfinished()).toEqual([])
    expect((await statesOf(url)).states).toEqual(Array(3).fill('failed file_ended'))
  })

  it("does not wait for a best-effort destination's late part once its writer has lost the lease", async () => {
    const url = await client.begin(20 * MiB)
    const held = (gate: string) =>
      ({ operation: 'UploadPart', at: 'answer', effect: { kind: 'hold', gate } }) as const
    buckets[0]!.faults.add(held('required'))
    buckets[2]!.faults.add(held('best effort'))
    const patching = client.patch(url, 0, randomBytes(5 * MiB))
    const parts = ({ traffic }: TestBucket) =>
      traffic
        .seen()
        .filter(({ operation, key }) => operation === 'UploadPart' && key.startsWith(fileIdOf(url)))
    await expect.poll(() => [buckets[0]!, buckets[2]!].map((bucket) => parts(bucket).length)).toEqual([1, 1])
    await database.db.transaction(async (tx) => {
      await tx.execute(
        sql`update files set lease_holder = 'another writer' where id = ${fileIdOf(url)}::uuid`,
      )
      buckets[0]!.faults.release('required')
      await blocked(database)
      buckets[2]!.faults.release('best effort')
      await expect.poll(() => node.context.background.size).toBeGreaterThan(0)
    })
    expect((await patching).status).toBe(423)
    await settled()
    expect(await partsOf(url)).toBe(0)
  })
})
