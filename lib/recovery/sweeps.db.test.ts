import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { fileIdOf, tusClient } from '../../test/support/tus-client.ts'
import { tusSite } from '../../test/support/tus-site.ts'
import { createSite, serveUploads } from '../../test/support/upload-site.ts'
import { rows } from '../platform/db/database.ts'
import { days, hours, minutes } from '../platform/kernel/clock.ts'
import { cancelUpload } from '../uploads/endings/end-upload.ts'
import { lapseLeases } from '../uploads/ledger/lease-rows.ts'
import { advance } from '../uploads/ledger/offsets.ts'
import { openUpload } from '../uploads/opening/open-upload.ts'
import { lapseReservations } from '../workspace/usage/reserve.ts'
import { clearLeftovers } from './clear-leftovers.ts'
import { reconcileUploads } from './reconcile.ts'
import { expireUploads, uploadSweeps } from './upload-sweeps.ts'

const MiB = 1024 * 1024
const SLOW_DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describe('the sweeps', () => {
  const { at, renew } = tusSite({ bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] } })
  const fileOf = async (url: string) => {
    const look = sql`select status, failure_reason as reason, reserved_bytes as reserved from files where id = ${fileIdOf(url)}::uuid`
    return (await rows<{ status: string; reason: string | null; reserved: number }>(at.database.db, look))[0]!
  }
  const usage = async () => {
    const look = sql`select coalesce(sum(used_bytes), 0)::bigint as used, coalesce(sum(reserved_bytes), 0)::bigint as reserved
      from usage_months where workspace_id = ${at.site.workspaceId}::uuid`
    return (await rows<{ used: number; reserved: number }>(at.database.db, look))[0]!
  }

  it('ends an upload that was not finished in time, and clears its parts', async () => {
    const url = await at.client.begin(20 * MiB)
    await at.client.patch(url, 0, randomBytes(9 * MiB))
    expect(await expireUploads(at.node.context)).toBe(0)
    at.site.clock.advance(days(7) + hours(1))
    expect(await expireUploads(at.node.context)).toBe(1)
    expect(await fileOf(url)).toMatchObject({ status: 'expired', reserved: 0 })
    expect(await at.site.bucket.unfinished()).toHaveLength(1)
    expect(await clearLeftovers(at.node.context)).toBe(1)
    expect(await at.site.bucket.unfinished()).toEqual([])
    expect(await clearLeftovers(at.node.context)).toBe(0)
  })

  it('delete bytes that an ended upload has left, and no others', async () => {
    const [ended, open] = [await at.client.begin(20 * MiB), await at.client.begin(20 * MiB)]
    await at.client.patch(open, 0, randomBytes(9 * MiB))
    const bytesOf = async (url: string) => {
      const id = fileIdOf(url)
      const look = sql`select 1 from upload_tails where file_id = ${id}::uuid
        union all select 1 from file_parts where file_id = ${id}::uuid`
      return (await rows(at.database.db, look)).length
    }
    await at.client.terminate(ended)
    const [from, to] = [fileIdOf(open), fileIdOf(ended)]
    await at.database.db.execute(sql`insert into upload_tails (file_id, offset_bytes, key, bytes)
      select ${to}::uuid, offset_bytes, key, bytes from upload_tails where file_id = ${from}::uuid`)
    await at.database.db.execute(sql`insert into file_parts (file_id, number, offset_bytes, size_bytes, etags, crc32)
      select ${to}::uuid, number, offset_bytes, size_bytes, etags, crc32 from file_parts where file_id = ${from}::uuid`)
    expect([await bytesOf(ended), await bytesOf(open)]).toEqual([2, 2])
    const sweep = uploadSweeps(at.node.context).find(({ name }) => name === 'delete ownerless bytes')
    expect([await sweep?.run(), await sweep?.run()]).toEqual([2, 0])
    expect([await bytesOf(ended), await bytesOf(open)]).toEqual([0, 2])
    await at.client.terminate(open)
    await clearLeftovers(at.node.context)
  })

  it('postpones expiry with each byte, but not past 30 days', async () => {
    const url = await at.client.begin(1000)
    for (let day = 0; day < 4; day++) {
      at.site.clock.advance(days(6))
      await renew()
      const reply = await at.client.patch(url, day * 10, randomBytes(10))
      expect(reply.status).toBe(204)
    }
    at.site.clock.advance(days(6) + hours(1))
    await renew()
    expect(await expireUploads(at.node.context)).toBe(1)
    expect((await at.client.head(url)).status).toBe(410)
  })

  it('drops a reservation after an hour without bytes, and reserves again when the upload continues', async () => {
    const before = await usage()
    const url = await at.client.begin(1000)
    expect((await usage()).reserved - before.reserved).toBe(1000)
    expect(await lapseReservations({ db: at.database.db, clock: at.site.clock })).toBe(0)
    at.site.clock.advance(hours(1) + 1)
    expect(await lapseReservations({ db: at.database.db, clock: at.site.clock })).toBe(1)
    expect(await usage()).toEqual(before)
    await renew()
    await at.client.patch(url, 0, randomBytes(400))
    expect(await usage()).toEqual({ used: before.used + 400, reserved: before.reserved + 600 })
    await at.client.patch(url, 400, randomBytes(600))
    expect(await usage()).toEqual({ used: before.used + 1000, reserved: before.reserved })
  })

  it('counts received bytes when it drops their reservation, and stops a writer whose lease has expired', async () => {
    const before = await usage()
    const url = await at.client.begin(1000)
    await at.client.patch(url, 0, randomBytes(400))
    const place = { pipeId: at.site.pipe.id, fileId: fileIdOf(url) }
    const right = await at.node.context.rights.toContinue(at.client.token, place)
    const upload = await openUpload(at.node.context, right, { bytes: 600 })
    const move = (fromBytes: number, toBytes: number) =>
      advance(at.database.db, upload!.lease, { fromBytes, toBytes, crc32: 0 }, at.site.clock.now())
    await move(400, 500)
    at.site.clock.advance(hours(1) + 1)
    await lapseLeases(at.database.db)
    expect(await lapseReservations({ db: at.database.db, clock: at.site.clock })).toBe(1)
    expect(await usage()).toEqual({ used: before.used + 500, reserved: before.reserved })
    await expect(move(500, 600)).rejects.toMatchObject({ code: 'upload_locked' })
    upload!.lease.forget()
    await renew()
    expect((await at.client.head(url)).headers['upload-offset']).toBe('500')
  })

  it('renews a lapsed reservation before accepting bytes, or refuses them', async () => {
    const poor = await createSite(at.database, { settings: { FREE_TIER_BYTES: '1000' } })
    const strict = await serveUploads(poor.runtime)
    const token = await poor.token({ expiresIn: 86_400 })
    const theirs = tusClient({ url: strict.url, pipeId: poor.pipe.id, token })
    const first = await theirs.begin(1000)
    poor.clock.advance(hours(1) + 1)
    expect(await lapseReservations({ db: at.database.db, clock: poor.clock })).toBe(1)
    const second = await theirs.begin(1000)
    for (let times = 0; times < 2; times++) {
      const refused = await theirs.patch(first, 0, randomBytes(400))
      expect(refused.status).toBe(403)
      expect(JSON.parse(refused.body).code).toBe('quota_exceeded')
    }
    expect((await theirs.head(first)).headers['upload-offset']).toBe('0')
    await cancelUpload(strict.context, { fileId: fileIdOf(second), workspaceId: poor.workspaceId })
    expect((await theirs.patch(first, 0, randomBytes(400))).status).toBe(204)
    expect((await theirs.create(1)).status).toBe(403)
    await strict.close()
    await poor.close()
  })

  it('cancels an upload in progress and returns its reservation, and refuses to cancel an upload that has ended', async () => {
    const before = await usage()
    const url = await at.client.begin(1000)
    await at.client.patch(url, 0, randomBytes(100))
    const file = { fileId: fileIdOf(url), workspaceId: at.site.workspaceId }
    await cancelUpload(at.node.context, file)
    expect(await usage()).toEqual({ used: before.used + 100, reserved: before.reserved })
    await cancelUpload(at.node.context, file)
    const done = await at.client.begin(3, {}, Buffer.from('abc'))
    await expect(
      cancelUpload(at.node.context, { fileId: fileIdOf(done), workspaceId: at.site.workspaceId }),
    ).rejects.toMatchObject({ code: 'conflict' })
    const stranger = { fileId: fileIdOf(done), workspaceId: '00000000-0000-7000-8000-000000000000' }
    await expect(cancelUpload(at.node.context, stranger)).rejects.toMatchObject({ code: 'upload_not_found' })
  })

  const reconciled = async () => {
    expect(await reconcileUploads(at.node.context)).toBe(1)
    await Promise.all(at.node.context.background)
  }

  it('fails a file after 24 hours without an object and one more attempt', async () => {
    const url = await at.client.begin(9 * MiB)
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    at.site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 100, effect })
    expect((await at.client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await Promise.all(at.node.context.background)
    await expect(
      cancelUpload(at.node.context, { fileId: fileIdOf(url), workspaceId: at.site.workspaceId }),
    ).rejects.toMatchObject({ code: 'conflict' })
    at.site.clock.advance(hours(1))
    await reconciled()
    expect(await fileOf(url)).toMatchObject({ status: 'transferring' })
    for (const [waitMs, status] of [
      [hours(24), 'transferring'],
      [minutes(10), 'failed'],
    ] as const) {
      at.site.clock.advance(waitMs)
      await reconciled()
      expect(await fileOf(url)).toMatchObject({ status })
    }
    expect((await fileOf(url)).reason).toBe('The bucket has not accepted the object within 24 hours.')
    at.site.bucket.faults.clear()
  })

  it('finds an object that was created a day before its creation could be recorded', async () => {
    const url = await at.client.begin(9 * MiB)
    const operation = 'CompleteMultipartUpload'
    at.site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
    at.site.bucket.faults.add({ operation, call: 2, times: 100, effect: SLOW_DOWN })
    expect((await at.client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await Promise.all(at.node.context.background)
    at.site.bucket.faults.clear()
    at.site.clock.advance(hours(25))
    await reconciled()
    expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
  })

  it('does not report an object as missing if it may exist', async () => {
    const url = await at.client.begin(9 * MiB)
    at.site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 100, effect: SLOW_DOWN })
    expect((await at.client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await Promise.all(at.node.context.background)
    for (const waitMs of [hours(25), minutes(10)]) {
      at.site.clock.advance(waitMs)
      await reconciled()
    }
    expect(await fileOf(url)).toMatchObject({ status: 'failed' })
    expect((await fileOf(url)).reason).toContain(`look for the object ${fileIdOf(url)}/file`)
    at.site.bucket.faults.clear()
  })
})
