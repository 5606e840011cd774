import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { httpCall } from '../../test/support/http-call.ts'
import {
  DOWN,
  describeSeveral,
  EVERYWHERE,
  expectEverywhere,
  partly,
  partsOf,
  REFUSED,
  settled,
  statesOf,
} from '../../test/support/several-site.ts'
import type { TestBucket } from '../../test/support/upload-site.ts'
import { rows } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'

const MiB = 1024 * 1024

describeSeveral((given) => {
  it.each([
    ['no bytes', 0],
    ['one part', MiB],
    ['several parts', 20 * MiB],
  ])('of %s is the same at each destination', async (_, bytes) => {
    const whole = randomBytes(bytes)
    const url = await given.client.begin(bytes)
    if (bytes > 0) expect((await given.client.patch(url, 0, whole)).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it.each([
    ['one request for one part', MiB, 1],
    ['N + 2 requests for N parts', 40 * MiB, 5 + 2],
  ])('makes %s at each destination', { tags: 'long' }, async (_, bytes, requests) => {
    const countOf = ({ traffic }: TestBucket) =>
      Object.values(traffic.counts()).reduce((sum, count) => sum + count, 0)
    const before = given.buckets.map(countOf)
    const url = await given.client.begin(bytes)
    expect((await given.client.patch(url, 0, randomBytes(bytes))).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    expect(given.buckets.map((bucket, n) => countOf(bucket) - before[n]!)).toEqual(Array(3).fill(requests))
  })

  const inLanes = async (whole: Buffer, between = async () => {}) => {
    const reply = await given.client.create(whole.length, { 'Upload-Lanes': '3' })
    const lanes: { url: string; firstByte: number; length: number }[] = JSON.parse(reply.body).lanes
    expect(lanes).toHaveLength(3)
    for (const { url, firstByte, length } of lanes) {
      const { status } = await given.client.patch(url, 0, whole.subarray(firstByte, firstByte + length))
      expect(status).toBe(204)
      await between()
    }
    return reply.headers.location!
  }

  it('is the same at each destination if it arrives in lanes', { tags: 'long' }, async () => {
    const whole = randomBytes(30 * MiB)
    const url = await inLanes(whole)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it('abandons a best-effort destination for all lanes at its first fault in one', {
    tags: 'long',
  }, async () => {
    const whole = randomBytes(30 * MiB)
    const url = await inLanes(whole, async () => {
      given.buckets[2]!.faults.add({ operation: 'UploadPart', effect: REFUSED })
    })
    expect(await statesOf(given, url)).toEqual(partly('rejected'))
    given.site.clock.advance(minutes(2))
    expect(await clearLeftovers(given.node.context)).toBe(1)
    expect(await given.buckets[2]!.unfinished()).toEqual([])
  })

  it('counts its bytes for each destination in the metrics, and once as confirmed', {
    tags: 'long',
  }, async () => {
    const { bucketBytes, uploadBytes } = given.site.runtime.metrics
    const sum = async () => {
      const [sent, confirmed] = await Promise.all([bucketBytes.get(), uploadBytes.get()])
      const of = (operation: string) =>
        sent.values.find(({ labels }) => labels.operation === operation)?.value ?? 0
      return [of('UploadPart'), confirmed.values[0]!.value]
    }
    const before = await sum()
    const url = await given.client.begin(20 * MiB)
    expect((await given.client.patch(url, 0, randomBytes(20 * MiB))).status).toBe(204)
    await settled(given)
    const after = await sum()
    expect(after.map((value, n) => value - before[n]!)).toEqual([3 * 20 * MiB, 20 * MiB])
  })

  it('can be resumed in small pieces, which become tails', async () => {
    const whole = randomBytes(14 * MiB)
    const url = await given.client.begin(whole.length)
    for (let at = 0; at < whole.length; at += 3 * MiB)
      expect((await given.client.patch(url, at, whole.subarray(at, at + 3 * MiB))).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it('ends like any other file if its length was unknown', { tags: 'long' }, async () => {
    const whole = randomBytes(9 * MiB)
    const url = await given.client.begin(null)
    expect((await given.client.patch(url, 0, whole)).status).toBe(204)
    const headers = { 'Upload-Length': String(whole.length) }
    expect((await given.client.patch(url, whole.length, Buffer.alloc(0), headers)).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it.each([
    ['refuses one part', MiB, 'PutObject', REFUSED, 'rejected'],
    ['refuses several parts', 20 * MiB, 'UploadPart', REFUSED, 'rejected'],
    ['refuses to start', 20 * MiB, 'CreateMultipartUpload', REFUSED, 'rejected'],
    ['refuses to complete', 20 * MiB, 'CompleteMultipartUpload', REFUSED, 'rejected'],
    ['is down', 20 * MiB, 'UploadPart', DOWN, 'unavailable'],
  ] as const)(
    'is partially transferred if the best-effort destination %s',
    { tags: 'long' },
    async (_, bytes, operation, effect, reason) => {
      const whole = randomBytes(bytes)
      const url = await given.client.begin(bytes)
      given.buckets[2]!.faults.add({ operation, effect, times: 100 })
      expect((await given.client.patch(url, 0, whole)).status).toBe(204)
      expect(await statesOf(given, url)).toEqual(partly(reason))
      await expectEverywhere(given, url, whole, given.buckets.slice(0, 2))
      given.site.clock.advance(minutes(2))
      await clearLeftovers(given.node.context)
      expect(await given.buckets[2]!.unfinished()).toEqual([])
    },
  )

  it('is reported as partially transferred to a plain PUT', async () => {
    given.buckets[2]!.faults.add({ operation: 'UploadPart', effect: REFUSED, times: 100 })
    const url = `${given.client.collection}film.mp4`
    const whole = randomBytes(20 * MiB)
    const { status, body } = await httpCall({ method: 'PUT', url, token: given.client.token, body: whole })
    expect([status, JSON.parse(body)]).toMatchObject([
      201,
      { status: 'partially_transferred', checksum: expect.stringMatching(/^crc32:/) },
    ])
    await settled(given)
    given.site.clock.advance(minutes(2))
    await clearLeftovers(given.node.context)
  })

  it.each([
    ['one part', MiB, 'PutObject'],
    ['several', 20 * MiB, 'UploadPart'],
  ] as const)(
    'does not wait for a hanging best-effort destination, with %s',
    { tags: 'long' },
    async (_, bytes, operation) => {
      const whole = randomBytes(bytes)
      const url = await given.client.begin(bytes)
      given.buckets[2]!.faults.add({
        operation,
        at: 'answer',
        effect: { kind: 'hold', gate: 'hung' },
        times: 100,
      })
      expect(await given.client.patch(url, 0, whole)).toMatchObject({ status: 204 })
      expect(await statesOf(given, url)).toEqual(partly('fell_behind'))
      await expectEverywhere(given, url, whole, given.buckets.slice(0, 2))
      given.buckets[2]!.faults.clear()
      given.site.clock.advance(minutes(2))
      await clearLeftovers(given.node.context)
      expect(given.node.context.budget.usedBytes).toBe(0)
    },
  )

  it.each([
    ['whose credentials cannot be decrypted', sql`secret_access_key_encrypted = 'v1.broken'`],
    ['that is turned off', sql`turned_off_at = now()`],
  ])('continues without a best-effort destination %s', { tags: 'long' }, async (_, broken) => {
    const { id } = given.site.copies[1]!.dataStore
    const change = (set: SQL) =>
      given.database.db.execute(
        sql`update data_stores set ${set}, updated_at = clock_timestamp() where id = ${id}::uuid`,
      )
    const [before] = await rows<{ secret: string }>(
      given.database.db,
      sql`select secret_access_key_encrypted as secret from data_stores where id = ${id}::uuid`,
    )
    const sent = given.buckets[2]!.traffic.counts()
    await change(broken)
    try {
      for (const bytes of [MiB, 20 * MiB]) {
        const whole = randomBytes(bytes)
        const url = await given.client.begin(bytes)
        expect((await given.client.patch(url, 0, whole)).status).toBe(204)
        expect(await statesOf(given, url)).toEqual(partly('rejected'))
        await expectEverywhere(given, url, whole, given.buckets.slice(0, 2))
      }
      expect(given.buckets[2]!.traffic.counts()).toEqual(sent)
    } finally {
      await change(sql`secret_access_key_encrypted = ${before!.secret}, turned_off_at = null`)
    }
  })

  it('waits in memory for a best-effort destination that starts after the others have parts', {
    tags: 'long',
  }, async () => {
    const whole = randomBytes(30 * MiB)
    const url = await given.client.begin(whole.length)
    const held = { kind: 'hold', gate: 'begins' } as const
    given.buckets[2]!.faults.add({ operation: 'CreateMultipartUpload', at: 'answer', effect: held })
    const patching = given.client.patch(url, 0, whole)
    await expect.poll(async () => (await partsOf(given, url)) > 0).toBe(true)
    given.buckets[2]!.faults.release('begins')
    expect((await patching).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })
})
