import { randomBytes, randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { pruneExpired } from '../../../server/control-sweeps.ts'
import { openDecider } from '../../../test/support/decider.ts'
import { httpCall, openCall } from '../../../test/support/http-call.ts'
import {
  codeOf,
  fileIdOf,
  metadata,
  OFFSET_STREAM,
  type TusClient,
} from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'
import { saveHook } from '../../hooks/pipe-hooks.ts'
import { rows } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { insertLanes } from '../../uploads/ledger/lanes.ts'

const { at, bytes, otherPipe } = tusSite()
const named = { 'Upload-Metadata': metadata({ filename: 'a.bin' }) }
const keyed = (key: string = randomUUID()) => ({ 'Idempotency-Key': key, ...named })
const filesNow = () =>
  rows<{ id: string; status: string }>(at.database.db, sql`select id, status from files order by id`)
const headersOf = (sent: Record<string, string>, length: number) => ({
  'Tus-Resumable': '1.0.0',
  'Upload-Length': String(length),
  'Content-Length': String(length),
  ...OFFSET_STREAM,
  ...sent,
})

describe('a creation with an Idempotency-Key', () => {
  it('makes one file, however often it is repeated', async () => {
    const before = await filesNow()
    const key = keyed()
    const first = await at.client.create(bytes.length, key, bytes)
    const second = await at.client.create(bytes.length, key, bytes)
    for (const reply of [first, second])
      expect(reply).toMatchObject({
        status: 201,
        headers: { location: first.headers.location, 'upload-offset': String(bytes.length) },
      })
    expect(await filesNow()).toHaveLength(before.length + 1)
  })

  it('makes one file for requests that arrive together', async () => {
    const before = await filesNow()
    const key = keyed()
    const replies = await Promise.all(
      Array.from({ length: 5 }, () => at.client.create(bytes.length, key, bytes)),
    )
    const offsets = replies.map(({ headers }) => headers['upload-offset'])
    const furthest = replies[offsets.indexOf(String(bytes.length))]!
    for (const { status, headers } of replies)
      expect([status, headers.location]).toEqual([201, furthest.headers.location])
    expect(await filesNow()).toHaveLength(before.length + 1)
  })

  it('can be repeated if the token allows a single file', async () => {
    const once = await at.site.client(at.node, { maxFiles: 1 })
    const key = keyed()
    const first = await once.create(bytes.length, key, bytes)
    expect((await once.create(bytes.length, key, bytes)).headers.location).toBe(first.headers.location)
    expect(codeOf(await once.create(bytes.length, keyed(), bytes))).toEqual([403, 'token_exhausted'])
  })

  it('stops the first request, if it is still running, and tells how far it came', async () => {
    const key = keyed()
    const post = openCall({
      method: 'POST',
      url: at.client.collection,
      token: at.client.token,
      headers: headersOf(key, bytes.length),
    })
    await post.write(bytes.subarray(0, 500))
    await expect.poll(async () => (await filesNow()).at(-1)).toMatchObject({ status: 'uploading' })
    const { status, headers } = await at.client.create(bytes.length, key, bytes)
    expect([status, headers['upload-offset']]).toEqual([201, '500'])
    expect((await post.reply).headers.location).toBe(headers.location)
    const rest = await at.client.patch(headers.location!, 500, bytes.subarray(500))
    expect(rest.status).toBe(204)
    expect(await at.site.bucket.object(`${fileIdOf(headers.location!)}/a.bin`)).toEqual(bytes)
  })

  it('continues after a request that was cut off', async () => {
    const key = keyed()
    const headers = headersOf(key, bytes.length)
    const post = openCall({ method: 'POST', url: at.client.collection, token: at.client.token, headers })
    await post.write(bytes.subarray(0, 500))
    const newest = () =>
      rows(
        at.database.db,
        sql`select status, offset_bytes::int as offset, lease_until is null as free,
        expires_at < ${new Date(at.site.runtime.clock.now() + hours(2)).toISOString()}::timestamptz as soon
        from files order by id desc limit 1`,
      )
    await expect.poll(newest).toMatchObject([{ free: false }])
    post.cut()
    await expect.poll(newest).toEqual([{ status: 'uploading', offset: 500, free: true, soon: true }])
    const { headers: told } = await at.client.create(bytes.length, key)
    expect(told['upload-offset']).toBe('500')
    expect((await at.client.patch(told.location!, 500, bytes.subarray(500))).status).toBe(204)
  })

  it('continues the file of a request that lost its lease', async () => {
    const key = keyed()
    const headers = headersOf(key, bytes.length)
    const post = openCall({ method: 'POST', url: at.client.collection, token: at.client.token, headers })
    await post.write(bytes.subarray(0, 500))
    const taken = () =>
      rows(
        at.database.db,
        sql`update files set lease_fence = 2, lease_until = null
          where id = (select id from files order by id desc limit 1) and lease_until is not null returning id`,
      )
    await expect.poll(taken).toHaveLength(1)
    await post.write(bytes.subarray(500))
    expect((await post.reply).status).toBe(423)
    const before = await filesNow()
    const { status, headers: told } = await at.client.create(bytes.length, key)
    expect([status, told['upload-offset'], fileIdOf(told.location!)]).toEqual([201, '0', before.at(-1)!.id])
    expect((await at.client.patch(told.location!, 0, bytes)).status).toBe(204)
    expect(await filesNow()).toHaveLength(before.length)
  })

  it('makes another file once the first has ended without an object', async () => {
    const key = keyed()
    const first = await at.client.create(bytes.length, key)
    await at.client.terminate(first.headers.location!)
    const second = await at.client.create(bytes.length, key, bytes)
    expect(second).toMatchObject({ status: 201, headers: { 'upload-offset': String(bytes.length) } })
    expect(second.headers.location).not.toBe(first.headers.location)
  })

  it('makes another file after a day', async () => {
    const key = keyed()
    const made = () => at.client.create(bytes.length, key, bytes)
    const first = await made()
    const { db } = at.database
    await pruneExpired(db, Date.now())
    expect((await made()).headers.location).toBe(first.headers.location)
    await db.execute(sql`update creation_keys set created_at = now() - interval '25 hours'`)
    await pruneExpired(db, Date.now())
    expect((await made()).headers.location).not.toBe(first.headers.location)
  })

  it('tells a rejected file apart from one that was never sent', async () => {
    const { db } = at.database
    const key = keyed()
    const first = await at.client.create(bytes.length, key)
    const id = fileIdOf(first.headers.location!)
    await db.execute(
      sql`update files set decision = 'rejected', status = 'failed', offset_bytes = length_bytes where id = ${id}::uuid`,
    )
    const second = await at.client.create(bytes.length, key, bytes)
    expect(second).toMatchObject({
      status: 201,
      headers: { location: first.headers.location, 'upload-offset': String(bytes.length - 1) },
    })
  })

  it.each([
    ['retired', sql`retired_at = now()`],
    ['expired', sql`expires_at = now() - interval '1 second'`],
  ])('makes another file once the first is %s', async (_, change) => {
    const key = keyed()
    const first = await at.client.create(bytes.length, key)
    const id = fileIdOf(first.headers.location!)
    await at.database.db.execute(sql`update files set ${change} where id = ${id}::uuid`)
    const second = await at.client.create(bytes.length, key, bytes)
    expect(second).toMatchObject({ status: 201, headers: { 'upload-offset': String(bytes.length) } })
  })

  it('can be repeated once its batch is sealed', async () => {
    const key = { ...keyed(), 'Upload-Metadata': metadata({ filename: 'a.bin', batch: 'b1' }) }
    const first = await at.client.create(bytes.length, key, bytes)
    const { status } = await httpCall({
      method: 'POST',
      url: at.client.collection.replace(/files\/$/, 'batches/seal'),
      token: at.client.token,
      headers: { 'Upload-Metadata': metadata({ batch: 'b1' }) },
    })
    const second = await at.client.create(bytes.length, key)
    expect([status, second.status, second.headers.location]).toEqual([200, 201, first.headers.location])
  })

  it('asks the receiver once', async () => {
    const decider = await openDecider()
    const hook = { url: decider.url, enabled: true, timeoutSeconds: 5, withoutAnswer: 'refuse' } as const
    const pipe = await otherPipe({ name: 'Asking' })
    const [pipeId] = pipe.collection.match(/pipe_[a-z0-9]+/)!
    await saveHook(at.site.runtime, at.site.actor, { pipeId, hook: 'before_create' }, hook)
    decider.answer = () => ({ allow: decider.asked.length < 2 })
    const key = keyed()
    const first = await pipe.create(bytes.length, key, bytes)
    expect((await pipe.create(bytes.length, key)).headers.location).toBe(first.headers.location)
    expect(decider.asked).toHaveLength(1)
    await decider.close()
  })

  it('may leave out the length again after it was declared', async () => {
    const key = keyed()
    const first = await at.client.create(null, key)
    await at.client.patch(first.headers.location!, 0, bytes, { 'Upload-Length': String(bytes.length) })
    expect((await at.client.create(null, key)).headers['upload-offset']).toBe(String(bytes.length))
  })

  it('waits for a file that may still be divided into lanes', async () => {
    const sent = { ...keyed(), 'Upload-Lanes': '4' }
    const first = await at.client.create(64 * 1024 * 1024, sent)
    const id = fileIdOf(first.headers.location!)
    await at.database.db.execute(sql`update files set lanes = null where id = ${id}::uuid`)
    expect(codeOf(await at.client.create(64 * 1024 * 1024, sent))).toEqual([503, 'unavailable'])
  })

  it('makes sure that a file whose division takes too long has one writer', async () => {
    const length = 64 * 1024 * 1024
    const sent = { ...keyed(), 'Upload-Lanes': '4' }
    const id = fileIdOf((await at.client.create(length, sent)).headers.location!)
    const { db } = at.database
    await db.execute(sql`update files set lanes = null, reserved_bytes = length_bytes where id = ${id}::uuid`)
    at.site.clock.advance(15_000)
    const again = await at.client.create(length, sent)
    expect([again.status, again.headers['upload-lanes']]).toEqual([201, undefined])
    const lanes = [{ id: randomUUID(), firstByte: 0, lengthBytes: length, partsBefore: 0 }]
    expect(await insertLanes(db, id, { lanes, partBytes: length, begun: [] })).toBe(false)
  })

  it('lists the lanes of the file', async () => {
    const length = 64 * 1024 * 1024
    const sent = { ...keyed(), 'Upload-Lanes': '4' }
    const [first, second] = [await at.client.create(length, sent), await at.client.create(length, sent)]
    expect(second.headers['upload-lanes']).toBe('4')
    expect(JSON.parse(second.body)).toEqual(JSON.parse(first.body))
  })

  it('shares nothing with another uploader who uses the same key', async () => {
    const key = keyed()
    const another = await at.site.client(at.node, { subject: 'another' })
    const made = (client: TusClient) => client.create(bytes.length, key, bytes)
    const [ours, theirs] = [await made(at.client), await made(another)]
    expect([ours.status, theirs.status]).toEqual([201, 201])
    expect(theirs.headers.location).not.toBe(ours.headers.location)
  })

  it.each([
    [randomBytes(bytes.length + 1), named],
    [bytes, { 'Upload-Metadata': metadata({ filename: 'b.bin' }) }],
    [bytes, { 'Upload-Concat': 'partial' }],
  ])('refuses the key for another file', async (body, sent) => {
    const key = randomUUID()
    await at.client.create(bytes.length, keyed(key), bytes)
    const refused = await at.client.create(body.length, { ...keyed(key), ...sent }, body)
    expect(codeOf(refused)).toEqual([400, 'invalid_header'])
  })

  it.each(['', 'k'.repeat(256)])('refuses a key of the wrong length', async (key) => {
    expect(codeOf(await at.client.create(1, keyed(key)))).toEqual([400, 'invalid_header'])
  })
})

describe('a creation that used up the quota', () => {
  const { at, bytes } = tusSite({ settings: { FREE_TIER_BYTES: '1500' } })

  it('can be repeated', async () => {
    const key = keyed()
    const first = await at.client.create(bytes.length, key, bytes)
    expect((await at.client.create(bytes.length, key)).headers.location).toBe(first.headers.location)
    expect(codeOf(await at.client.create(bytes.length, keyed()))).toEqual([403, 'quota_exceeded'])
  })
})
