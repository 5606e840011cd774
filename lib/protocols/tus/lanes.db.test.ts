import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { sql } from 'drizzle-orm'
import { Upload } from 'tus-js-client'
import { afterEach, describe, expect, it } from 'vitest'
import { httpCall } from '../../../test/support/http-call.ts'
import { codeOf, fileIdOf, openPatch, type TusReply } from '../../../test/support/tus-client.ts'
import { tusSite } from '../../../test/support/tus-site.ts'
import { listFiles } from '../../dashboard/files/list-files.ts'
import { rows } from '../../platform/db/database.ts'
import { days, hours } from '../../platform/kernel/clock.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'
import { lapseReservations } from '../../workspace/usage/reserve.ts'

const MiB = 1024 * 1024
const { at, otherPipe, renew } = tusSite({ bucket: { rules: ['consecutive-part-numbers', 'equal-parts'] } })

type Lane = { url: string; firstByte: number; length: number; offset: number }
const lanesIn = ({ body }: TusReply): Lane[] => JSON.parse(body).lanes

const whole = randomBytes(40 * MiB + 77)
const bytesOf = ({ firstByte, length }: Lane) => whole.subarray(firstByte, firstByte + length)

async function beginLanes(count: number, headers: Record<string, string> = {}) {
  const reply = await at.client.create(whole.length, { 'Upload-Lanes': String(count), ...headers })
  expect(reply.status).toBe(201)
  return { url: reply.headers.location!, lanes: lanesIn(reply) }
}
const sendAll = (lanes: Lane[]) =>
  Promise.all(lanes.map((lane) => at.client.patch(lane.url, 0, bytesOf(lane))))

const settled = () => Promise.all(at.node.context.background)
const fileOf = async (url: string) => {
  await settled()
  const [file] = await rows<Record<string, unknown>>(
    at.database.db,
    sql`select status, offset_bytes as "offsetBytes", failure_reason as reason, resume_count as resumes,
      (select json_agg(e.missed_status) from events e where e.file_id = f.id) as events,
      (select count(*)::int from upload_tails t where t.file_id = f.id or t.file_id = any(f.lanes)) as tails
      from files f where id = ${fileIdOf(url)}::uuid`,
  )
  return file
}
const usage = async () => {
  const [found] = await rows<{ used: number; reserved: number }>(
    at.database.db,
    sql`select coalesce(sum(used_bytes), 0)::bigint as used, coalesce(sum(reserved_bytes), 0)::bigint as reserved
      from usage_months where workspace_id = ${at.site.workspaceId}::uuid`,
  )
  return found!
}
const getLanes = (url: string) => httpCall({ method: 'GET', url, token: at.client.token })

describe('a file with lanes', () => {
  afterEach(() => at.site.bucket.faults.clear())

  it('does not look complete if its end for a wrong checksum could not be recorded', async () => {
    const { context } = at.node
    const { url, lanes } = await beginLanes(2, { 'Repr-Digest': 'crc32=:AAAAAA==:' })
    expect((await at.client.patch(lanes[0]!.url, 0, bytesOf(lanes[0]!))).status).toBe(204)
    const { emitEvents } = context
    context.emitEvents = async () => {
      context.emitEvents = emitEvents
      throw new Error('the database is away')
    }
    expect((await at.client.patch(lanes[1]!.url, 0, bytesOf(lanes[1]!))).status).toBeGreaterThan(499)
    expect(await at.client.offset(url)).toBeLessThan(whole.length)
    await settled()
    const offset = await at.client.offset(lanes[1]!.url)
    const rest = bytesOf(lanes[1]!).subarray(offset)
    expect((await at.client.patch(lanes[1]!.url, offset, rest)).status).toBe(460)
    expect(await fileOf(url)).toMatchObject({ status: 'failed', reason: 'checksum_mismatch' })
  })

  it('is not divided if its reservation lapses before that', async () => {
    const { faults, traffic } = at.site.bucket
    const before = await usage()
    faults.add({ operation: 'CreateMultipartUpload', effect: { kind: 'hold', gate: 'multipart' } })
    const creating = at.client.create(whole.length, { 'Upload-Lanes': '4' })
    await traffic.until({ operation: 'CreateMultipartUpload', state: 'arrived' })
    const later = { now: () => at.site.clock.now() + hours(2) }
    expect(await lapseReservations({ db: at.database.db, clock: later })).toBeGreaterThan(0)
    faults.release('multipart')
    const { status, headers } = await creating
    expect([status, headers['upload-lanes']]).toEqual([201, undefined])
    expect(await usage()).toEqual(before)
    const [url, { token }] = [headers.location!, at.client]
    expect(
      (await httpCall({ method: 'DELETE', url, token, headers: { 'Tus-Resumable': '1.0.0' } })).status,
    ).toBe(204)
  })

  it('is divided into whole parts, and becomes one object from all lanes at once', async () => {
    const before = await usage()
    const { url, lanes } = await beginLanes(4)
    expect(lanes.map(({ firstByte }) => firstByte / MiB)).toEqual([0, 8, 24, 32])
    expect((await usage()).reserved - before.reserved).toBe(whole.length)
    const replies = await sendAll(lanes)
    expect(replies.map(({ status }) => status)).toEqual([204, 204, 204, 204])
    expect(await fileOf(url)).toMatchObject({ status: 'transferred', events: ['transferred'], tails: 0 })
    const { headers } = await at.client.head(url)
    expect([headers['upload-offset'], headers['upload-length']]).toEqual(Array(2).fill(String(whole.length)))
    expect((await at.site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    expect(await usage()).toEqual({ used: before.used + whole.length, reserved: before.reserved })
    expect(await at.client.offset(lanes[1]!.url)).toBe(lanes[1]!.length)
  })

  it('shows one file with the bytes of all lanes, also to a client that continues it elsewhere', {
    tags: 'long',
  }, async () => {
    const { url, lanes } = await beginLanes(3)
    const [first, second] = lanes as [Lane, Lane, Lane]
    await at.client.patch(second.url, 0, bytesOf(second).subarray(0, 9 * MiB))
    await at.client.patch(first.url, 0, bytesOf(first).subarray(0, 1000))
    const head = await at.client.head(url)
    expect(head.headers).toMatchObject({ 'upload-offset': String(9 * MiB + 1000), 'upload-lanes': '3' })
    expect(lanesIn(await getLanes(url)).map(({ offset }) => offset)).toEqual([1000, 9 * MiB, 0])
    const { data } = await listFiles(at.site.runtime, at.site.actor, { limit: 50, status: 'uploading' })
    expect(data).toMatchObject([{ id: fileIdOf(url), offset: 9 * MiB + 1000 }])
    await Promise.all(
      lanesIn(await getLanes(url)).map((lane) =>
        at.client.patch(lane.url, lane.offset, bytesOf(lane).subarray(lane.offset)),
      ),
    )
    expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
    expect((await at.site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  })

  it('continues a lane whose connection was cut', async () => {
    const { url, lanes } = await beginLanes(2)
    const [first, second] = lanes as [Lane, Lane]
    const cut = openPatch(at.client, first.url, { offset: 0, length: first.length })
    await cut.write(bytesOf(first).subarray(0, 10 * MiB))
    cut.cut()
    const { offset } = lanesIn(await getLanes(url))[0]!
    expect(offset).toBe(10 * MiB)
    expect(await at.client.offset(first.url)).toBe(offset)
    await at.client.patch(second.url, 0, bytesOf(second))
    await at.client.patch(first.url, offset, bytesOf(first).subarray(offset))
    expect(await fileOf(url)).toMatchObject({ status: 'transferred', resumes: 1 })
  })

  it('counts a resume whenever connections are lost, however many at once', { tags: 'long' }, async () => {
    const { url, lanes } = await beginLanes(3)
    const open = (lane: Lane, offset: number) =>
      openPatch(at.client, lane.url, { offset, length: lane.length - offset })
    const sent = [0, 0, 0]
    const writing = lanes.map((lane) => open(lane, 0))
    const leased = () =>
      rows(
        at.database.db,
        sql`select id from files where lane_of = ${fileIdOf(url)}::uuid and lease_until is not null`,
      )
    for (const lost of [[0, 1, 2], [1], [0, 1, 2]]) {
      await Promise.all(
        writing.map((one, n) => one.write(bytesOf(lanes[n]!).subarray(sent[n], sent[n]! + MiB))),
      )
      for (const n in sent) sent[n]! += MiB
      await expect.poll(leased).toHaveLength(3)
      for (const n of lost) writing[n]!.cut()
      for (const n of lost) {
        const { headers } = await at.client.head(lanes[n]!.url)
        // Chromium would repeat the next request by itself if this connection broke.
        expect(headers.connection).toBe('close')
        sent[n] = Number(headers['upload-offset'])
        writing[n] = open(lanes[n]!, sent[n]!)
      }
    }
    await Promise.all(writing.map((one, n) => one.write(bytesOf(lanes[n]!).subarray(sent[n]))))
    await expect.poll(() => fileOf(url)).toMatchObject({ status: 'transferred', resumes: 3 })
  })

  it('sends the last part of a lane again if the bucket did not take it', { tags: 'long' }, async () => {
    const { url, lanes } = await beginLanes(2)
    const [first, second] = lanes as [Lane, Lane]
    await at.client.patch(second.url, 0, bytesOf(second))
    const before = first.length - 1000
    await at.client.patch(first.url, 0, bytesOf(first).subarray(0, before))
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    at.site.bucket.faults.add({ operation: 'UploadPart', times: 100, effect })
    const refused = await at.client.patch(first.url, before, bytesOf(first).subarray(before))
    expect(codeOf(refused)).toEqual([502, 'bucket_refused'])
    at.site.bucket.faults.clear()
    expect(await at.client.offset(first.url)).toBe(before)
    await at.client.patch(first.url, before, bytesOf(first).subarray(before))
    expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
  })

  it('ends with all its lanes when its client cancels it', async () => {
    const before = await usage()
    const { url, lanes } = await beginLanes(2)
    const [first, second] = lanes as [Lane, Lane]
    await at.client.patch(first.url, 0, bytesOf(first).subarray(0, 1000))
    expect(codeOf(await at.client.terminate(first.url))).toEqual([405, 'method_not_allowed'])
    expect((await at.client.terminate(url)).status).toBe(204)
    for (const gone of [url, first.url, second.url]) expect((await at.client.head(gone)).status).toBe(410)
    expect(codeOf(await at.client.patch(second.url, 0, bytesOf(second)))).toEqual([410, 'upload_gone'])
    expect(await fileOf(url)).toMatchObject({
      status: 'canceled',
      events: ['canceled'],
      offsetBytes: 1000,
      tails: 0,
    })
    expect(await usage()).toEqual({ used: before.used + 1000, reserved: before.reserved })
  })

  it('ends with all its lanes when it is not finished in time, counted from the last byte in any lane', async () => {
    const { url, lanes } = await beginLanes(2)
    for (let day = 0; day < 2; day++) {
      at.site.clock.advance(days(6))
      await renew()
      await at.client.patch(
        lanes[1]!.url,
        day * 1000,
        bytesOf(lanes[1]!).subarray(day * 1000, (day + 1) * 1000),
      )
      expect(await expireUploads(at.node.context)).toBe(0)
    }
    expect(await at.client.offset(lanes[0]!.url)).toBe(0)
    at.site.clock.advance(days(7) + hours(1))
    expect(await expireUploads(at.node.context)).toBe(1)
    expect(await fileOf(url)).toMatchObject({ status: 'expired', events: ['expired'], tails: 0 })
    await renew()
    expect((await at.client.head(lanes[0]!.url)).status).toBe(410)
  })

  it('fails if the bytes of all lanes together do not have the declared checksum', {
    tags: 'long',
  }, async () => {
    const digest = (bytes: Buffer) => {
      const sum = Buffer.alloc(4)
      sum.writeUInt32BE(crc32(bytes))
      return { 'Repr-Digest': `crc32=:${sum.toString('base64')}:` }
    }
    const wrong = await beginLanes(2, digest(Buffer.from('other')))
    const replies = await sendAll(wrong.lanes)
    const refused = replies.filter(({ status }) => status !== 204)
    expect(refused.map(codeOf)).toEqual([[460, 'checksum_mismatch']])
    expect(await fileOf(wrong.url)).toMatchObject({ status: 'failed', reason: 'checksum_mismatch' })
    const right = await beginLanes(2)
    const [first, second] = right.lanes as [Lane, Lane]
    await at.client.patch(first.url, 0, bytesOf(first).subarray(0, 1000), digest(whole))
    const other = await at.client.patch(
      second.url,
      0,
      bytesOf(second).subarray(0, 10),
      digest(Buffer.from('other')),
    )
    expect(codeOf(other)).toEqual([400, 'invalid_header'])
    await at.client.patch(first.url, 1000, bytesOf(first).subarray(1000))
    await at.client.patch(second.url, 0, bytesOf(second), digest(whole))
    expect(await fileOf(right.url)).toMatchObject({ status: 'transferred' })
  })

  it('takes the place of an earlier creation whose response was lost, until bytes have arrived in a lane', async () => {
    const client = await at.site.client(at.node, { maxFiles: 1 })
    const create = () => client.create(whole.length, { 'Upload-Lanes': '2' })
    const lost = await create()
    const again = await create()
    expect([lost.status, again.status]).toEqual([201, 201])
    expect((await client.head(lost.headers.location!)).status).toBe(410)
    const [first] = lanesIn(again) as [Lane]
    await client.patch(first.url, 0, bytesOf(first).subarray(0, 1000))
    expect(codeOf(await create())).toEqual([403, 'token_exhausted'])
    await client.terminate(again.headers.location!)
  })

  it('is sent by the example in the documentation', { tags: 'long' }, async () => {
    const page = await readFile('app/(site)/docs/_text/tus-endpoint.md', 'utf8')
    const [, code] = page.match(/```js\nimport \{ Upload \} from 'tus-js-client'\n(.*?)```/s)!
    expect(code!.trim().split('\n').length).toBeLessThanOrEqual(40)
    const uploadInLanes = new Function('Upload', `${code}return uploadInLanes`)(Upload)
    const sent: number[] = []
    for (const bytes of [whole, whole.subarray(0, 1000)]) {
      const { collection: endpoint, token } = at.client
      const file = Object.assign(Buffer.from(bytes), { size: bytes.length, name: 'été.mp4' })
      const url = await uploadInLanes(file, { endpoint, token, onProgress: (all: number) => sent.push(all) })
      expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
      expect((await at.site.bucket.object(`${fileIdOf(url)}/été.mp4`)).equals(bytes)).toBe(true)
      expect(sent.at(-1)).toBe(bytes.length)
    }
  })

  it('returns clear errors for wrong use', async () => {
    const ask = (headers: Record<string, string>, length: number | null = whole.length, body?: Buffer) =>
      at.client.create(length, headers, body)
    for (const [reply, words] of [
      [await ask({ 'Upload-Lanes': '17' }), 'from 1 to 16'],
      [await ask({ 'Upload-Lanes': 'two' }), 'from 1 to 16'],
      [await ask({ 'Upload-Lanes': '4' }, null), 'known length'],
      [await ask({ 'Upload-Lanes': '4', 'Upload-Concat': 'partial' }), 'mutually exclusive'],
      [await ask({ 'Upload-Lanes': '4' }, whole.length, Buffer.alloc(10)), 'without a body'],
    ] as const) {
      expect(codeOf(reply)).toEqual([400, 'invalid_header'])
      expect(reply.body).toContain(words)
    }
    const { url, lanes } = await beginLanes(2)
    expect(codeOf(await at.client.patch(url, 0, whole.subarray(0, 10)))).toEqual([403, 'upload_has_lanes'])
    const missing = url.replace(fileIdOf(url), '00000000-0000-7000-8000-000000000000')
    expect(codeOf(await at.client.patch(missing, 0, whole.subarray(0, 10)))).toEqual([
      404,
      'upload_not_found',
    ])
    const past = await at.client.patch(lanes[0]!.url, 0, whole)
    expect(codeOf(past)).toEqual([413, 'file_too_large'])
    await at.client.terminate(url)
  })

  it('has one writer if it is too small, or if its Pipe verifies content', async () => {
    const small = await at.client.create(1000, { 'Upload-Lanes': '4' })
    expect([small.status, small.body, small.headers['upload-lanes']]).toEqual([201, '', undefined])
    expect(codeOf(await getLanes(small.headers.location!))).toEqual([405, 'method_not_allowed'])
    await at.client.terminate(small.headers.location!)
    const verifying = await otherPipe({ verifyContent: true })
    const reply = await verifying.create(whole.length, { 'Upload-Lanes': '4' })
    expect([reply.status, reply.headers['upload-lanes']]).toEqual([201, undefined])
  })

  it('has one writer if the bucket cannot start a multipart upload now', { tags: 'long' }, async () => {
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    at.site.bucket.faults.add({ operation: 'CreateMultipartUpload', times: 100, effect })
    const reply = await at.client.create(whole.length, { 'Upload-Lanes': '4' })
    expect([reply.status, reply.headers['upload-lanes']]).toEqual([201, undefined])
    at.site.bucket.faults.clear()
    expect((await at.client.patch(reply.headers.location!, 0, whole)).status).toBe(204)
    expect(await fileOf(reply.headers.location!)).toMatchObject({ status: 'transferred' })
  })

  it('ends completely although all of its lanes are being written', async () => {
    const { url, lanes } = await beginLanes(2)
    const writing = lanes.map(({ url, length }) => openPatch(at.client, url, { offset: 0, length }))
    await Promise.all(writing.map((one, n) => one.write(bytesOf(lanes[n]!).subarray(0, 9 * MiB))))
    await at.client.terminate(url)
    const statuses = await Promise.all(writing.map(async ({ reply }) => (await reply).status))
    expect(statuses).toEqual([410, 410])
    expect(await fileOf(url)).toMatchObject({ status: 'canceled', tails: 0 })
  })

  it('lets its other lanes record parts while the end of a request waits for the usage', async () => {
    const { url, lanes } = await beginLanes(2)
    const { db } = at.database
    const writing = await db.transaction(async (tx) => {
      await tx.execute(
        sql`select from usage_months where workspace_id = ${at.site.workspaceId}::uuid for update`,
      )
      const patching = at.client.patch(lanes[0]!.url, 0, bytesOf(lanes[0]!).subarray(0, 1000))
      const waiting = sql`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`
      await expect.poll(() => rows(db, waiting)).toEqual([{ count: 1 }])
      // A part's foreign key takes this lock.
      await rows(db, sql`select from files where id = ${fileIdOf(url)}::uuid for key share nowait`)
      return { patching }
    })
    expect((await writing.patching).status).toBe(204)
  })
})
