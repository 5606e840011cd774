/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { blocked } from '../../test/support/databases.ts'
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
import { fileIdOf } from '../../test/support/tus-client.ts'
import type { TestBucket } from '../../test/support/upload-site.ts'
import { rows } from '../platform/db/database.ts'
import { hours, minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { recordDestinationFailure } from './ledger/transferred.ts'

const MiB = 1024 * 1024
const REJECTED = { kind: 'refuse', status: 400, code: 'EntityTooLarge' } as const

describeSeveral((given) => {
  it.each([
    ['one part', MiB, 'PutObject'],
    ['the last of several parts', 20 * MiB, 'UploadPart'],
    ['the Complete', 20 * MiB, 'CompleteMultipartUpload'],
  ] as const)('is completed later if a required destination is down for %s', async (_, bytes, operation) => {
    const whole = randomBytes(bytes)
    const url = await given.client.begin(bytes)
    const keep = operation === 'UploadPart' ? 16 * MiB : 0
    if (keep > 0) expect((await given.client.patch(url, 0, whole.subarray(0, keep))).status).toBe(204)
    given.buckets[1]!.faults.add({ operation, effect: DOWN, times: 100 })
    expect((await given.client.patch(url, keep, whole.subarray(keep))).status).toBe(204)
    expect((await statesOf(given, url)).status).toBe('transferring')
    given.buckets[1]!.faults.clear()
    given.site.clock.advance(hours(1))
    await reconcileUploads(given.node.context)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it('keeps a best-effort destination that has the last part, while a required one still refuses it', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await given.client.begin(whole.length)
    expect((await given.client.patch(url, 0, whole.subarray(0, 16 * MiB))).status).toBe(204)
    given.buckets[1]!.faults.add({ operation: 'UploadPart', effect: DOWN, times: 100 })
    expect((await given.client.patch(url, 16 * MiB, whole.subarray(16 * MiB))).status).toBe(204)
    given.site.clock.advance(hours(1))
    await reconcileUploads(given.node.context)
    expect(await statesOf(given, url)).toMatchObject({
      status: 'transferring',
      states: Array(3).fill('transferring'),
    })
    given.buckets[1]!.faults.clear()
    given.site.clock.advance(hours(1))
    await reconcileUploads(given.node.context)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it('is completed later if one of the required destinations is down from the first byte to the last', async () => {
    const whole = randomBytes(7 * MiB)
    const url = await given.client.begin(null)
    given.buckets[0]!.faults.add({ operation: 'UploadPart', effect: REFUSED, times: 100 })
    given.buckets[1]!.faults.add({ operation: 'CreateMultipartUpload', effect: DOWN, times: 100 })
    expect((await given.client.patch(url, 0, Buffer.concat([whole, randomBytes(2 * MiB)]))).status).toBe(502)
    expect(await given.client.offset(url)).toBe(0)
    given.buckets[0]!.faults.clear()
    expect((await given.client.patch(url, 0, whole.subarray(0, 3 * MiB))).status).toBe(204)
    const length = { 'Upload-Length': String(whole.length) }
    expect((await given.client.patch(url, 3 * MiB, whole.subarray(3 * MiB), length)).status).toBe(204)
    expect((await statesOf(given, url)).status).toBe('transferring')
    given.buckets[1]!.faults.clear()
    given.site.clock.advance(hours(1))
    await reconcileUploads(given.node.context)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it('fails if a required destination permanently rejects it, and leaves no object at the other', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await given.client.begin(whole.length)
    given.buckets[1]!.faults.add({ operation: 'CompleteMultipartUpload', effect: REJECTED })
    expect((await given.client.patch(url, 0, whole)).status).toBe(502)
    expect(await statesOf(given, url)).toMatchObject({
      status: 'failed',
      events: ['failed'],
      states: ['transferred', 'failed file_ended', expect.stringMatching(/^transferred|failed file_ended$/)],
    })
    given.site.clock.advance(minutes(2))
    await clearLeftovers(given.node.context)
    for (const bucket of given.buckets)
      expect((await bucket.objects()).filter((key) => key.startsWith(fileIdOf(url)))).toEqual([])
  })

  it('does not count bytes that a required destination is missing', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await given.client.begin(whole.length)
    given.buckets[1]!.faults.add({ operation: 'UploadPart', effect: REFUSED })
    expect((await given.client.patch(url, 0, whole)).status).toBe(502)
    const at = await given.client.offset(url)
    expect(at).toBeLessThan(whole.length)
    expect((await given.client.patch(url, at, whole.subarray(at))).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(EVERYWHERE)
    await expectEverywhere(given, url, whole)
  })

  it.each([
    ['a file of one part', MiB, 'PutObject', 502],
    ['a part', 20 * MiB, 'UploadPart', 502],
    ['the Complete', 20 * MiB, 'CompleteMultipartUpload', 204],
  ] as const)('marks the Data Store that refused %s, and no other', async (_, bytes, operation, status) => {
    await given.database.db.execute(sql`update data_stores set rejecting_since = null, rejected_at = null`)
    const url = await given.client.begin(bytes)
    given.buckets[1]!.faults.add({ operation, effect: REFUSED, times: 100 })
    expect((await given.client.patch(url, 0, randomBytes(bytes))).status).toBe(status)
    await settled(given)
    const marked = await rows(
      given.database.db,
      sql`select id from data_stores where rejecting_since is not null and rejected_at is not null`,
    )
    expect(marked).toEqual([{ id: given.site.copies[0]!.dataStore.id }])
    given.buckets[1]!.faults.clear()
    await given.client.terminate(url)
    given.site.clock.advance(minutes(2))
    await reconcileUploads(given.node.context)
    await clearLeftovers(given.node.context)
  })

  it("is completed later if the database loses a best-effort destination's fault", async () => {
    const whole = randomBytes(MiB)
    const url = await given.client.begin(whole.length)
    await given.database.db.execute(sql`create function fail() returns trigger language plpgsql
      as $$ begin raise exception 'not now'; end $$`)
    await given.database.db.execute(sql`create trigger unrecorded before update on file_destinations
      for each row when (new.status = 'failed') execute function fail()`)
    given.buckets[2]!.faults.add({ operation: 'PutObject', effect: REFUSED, times: 100 })
    expect((await given.client.patch(url, 0, whole)).status).toBe(204)
    expect((await statesOf(given, url)).status).toBe('transferring')
    await given.database.db.execute(sql`drop function fail cascade`)
    given.site.clock.advance(minutes(1))
    await reconcileUploads(given.node.context)
    expect(await statesOf(given, url)).toEqual(partly('rejected'))
    await expectEverywhere(given, url, whole, given.buckets.slice(0, 2))
  })

  it('does not revive an abandoned destination if its bucket accepts the object later', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await given.client.begin(whole.length)
    const held = { kind: 'hold', gate: 'completed' } as const
    for (const bucket of [given.buckets[0]!, given.buckets[2]!])
      bucket.faults.add({ operation: 'CompleteMultipartUpload', at: 'answer', effect: held })
    const patching = given.client.patch(url, 0, whole)
    const dataStoreId = given.site.copies[1]!.dataStore.id
    const fileId = fileIdOf(url)
    const isCompleting = async () =>
      (await given.buckets[2]!.objects()).some((key) => key.startsWith(fileId)) &&
      (await partsOf(given, url)) > 0
    await expect.poll(isCompleting).toBe(true)
    const failure = { reason: 'fell_behind', detail: null } as const
    await recordDestinationFailure(
      given.database.db,
      { fileId, dataStoreId },
      failure,
      given.site.clock.now(),
    )
    given.buckets[2]!.faults.release('completed')
    given.buckets[0]!.faults.release('completed')
    expect((await patching).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(partly('fell_behind'))
  })

  it('is partially transferred if a destination was abandoned before the others took it in one request', async () => {
    const whole = randomBytes(8 * MiB)
    const url = await given.client.begin(whole.length)
    const effects = [DOWN, DOWN, REFUSED]
    for (const [n, { faults }] of given.buckets.entries())
      faults.add({ operation: 'CreateMultipartUpload', effect: effects[n]!, times: 100 })
    await given.client.patch(url, 0, whole.subarray(0, 6 * MiB))
    for (const { faults } of given.buckets) faults.clear()
    const offset = Number((await given.client.head(url)).headers['upload-offset'])
    expect((await given.client.patch(url, offset, whole.subarray(offset))).status).toBe(204)
    expect(await statesOf(given, url)).toEqual(partly('rejected'))
    await expectEverywhere(given, url, whole, given.buckets.slice(0, 2))
  })

  it('leaves nothing at any destination when it is canceled', async () => {
    const url = await given.client.begin(20 * MiB)
    expect((await given.client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await given.client.terminate(url)
    given.site.clock.advance(minutes(2))
    await clearLeftovers(given.node.context)
    for (const bucket of given.buckets) expect(await bucket.unfinished()).toEqual([])
    expect((await statesOf(given, url)).states).toEqual(Array(3).fill('failed file_ended'))
  })

  it("does not wait for a best-effort destination's late part once its writer has lost the lease", async () => {
    const url = await given.client.begin(20 * MiB)
    const held = (gate: string) =>
      ({ operation: 'UploadPart', at: 'answer', effect: { kind: 'hold', gate } }) as const
    given.buckets[0]!.faults.add(held('required'))
    given.buckets[2]!.faults.add(held('best effort'))
    const patching = given.client.patch(url, 0, randomBytes(5 * MiB))
    const parts = ({ traffic }: TestBucket) =>
      traffic
        .seen()
        .filter(({ operation, key }) => operation === 'UploadPart' && key.startsWith(fileIdOf(url)))
    await expect
      .poll(() => [given.buckets[0]!, given.buckets[2]!].map((bucket) => parts(bucket).length))
      .toEqual([1, 1])
    await given.database.db.transaction(async (tx) => {
      await tx.execute(
        sql`update files set lease_holder = 'another writer' where id = ${fileIdOf(url)}::uuid`,
      )
      given.buckets[0]!.faults.release('required')
      await blocked(given.database)
      given.buckets[2]!.faults.release('best effort')
      await expect.poll(() => given.node.context.background.size).toBeGreaterThan(0)
    })
    expect((await patching).status).toBe(423)
    await settled(given)
    expect(await partsOf(given, url)).toBe(0)
  })
})
