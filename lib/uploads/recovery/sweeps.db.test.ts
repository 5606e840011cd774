import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, type TusClient, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { days, hours, minutes } from '../../platform/kernel/clock.ts'
import { lapseReservations } from '../../workspace/usage/reserve.ts'
import { clearLeftovers } from '../endings/clear-leftovers.ts'
import { cancelUpload } from '../endings/end-upload.ts'
import { fail } from '../finish/settle.ts'
import { lapseLeases } from '../ledger/leases.ts'
import { advance } from '../ledger/offsets.ts'
import { openUpload } from '../opening/open-upload.ts'
import { reconcileUploads } from './reconcile.ts'
import { expireUploads } from './upload-sweeps.ts'

const MiB = 1024 * 1024
const SLOW_DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describeWithDatabase('the sweeps', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  const fileOf = async (url: string) => {
    const look = sql`select status, failure_reason as reason, reserved_bytes as reserved from files where id = ${fileIdOf(url)}::uuid`
    return (await rows<{ status: string; reason: string | null; reserved: number }>(database().db, look))[0]!
  }
  const usage = async () => {
    const look = sql`select coalesce(sum(used_bytes), 0)::bigint as used, coalesce(sum(reserved_bytes), 0)::bigint as reserved
      from usage_months where workspace_id = ${site.workspaceId}::uuid`
    return (await rows<{ used: number; reserved: number }>(database().db, look))[0]!
  }
  const renew = async () => {
    client = await site.client(node)
  }

  beforeAll(async () => {
    site = await createSite(database(), { bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] } })
    node = await serveUploads(site.runtime)
    await renew()
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  it('ends an upload that was not finished in time, and clears its parts', async () => {
    const url = await client.begin(20 * MiB)
    await client.patch(url, 0, randomBytes(9 * MiB))
    expect(await expireUploads(node.context)).toBe(0)
    site.clock.advance(days(7) + hours(1))
    expect(await expireUploads(node.context)).toBe(1)
    expect(await fileOf(url)).toMatchObject({ status: 'expired', reserved: 0 })
    expect(await site.bucket.unfinished()).toHaveLength(1)
    expect(await clearLeftovers(node.context)).toBe(1)
    expect(await site.bucket.unfinished()).toEqual([])
    expect(await clearLeftovers(node.context)).toBe(0)
    await renew()
  })

  it('postpones expiry with each byte, but not past 30 days', async () => {
    const url = await client.begin(1000)
    for (let day = 0; day < 4; day++) {
      site.clock.advance(days(6))
      await renew()
      const reply = await client.patch(url, day * 10, randomBytes(10))
      expect(reply.status).toBe(204)
    }
    site.clock.advance(days(6) + hours(1))
    await renew()
    expect(await expireUploads(node.context)).toBe(1)
    expect((await client.head(url)).status).toBe(410)
  })

  it('drops a reservation after an hour without bytes, and reserves again when the upload continues', async () => {
    const before = await usage()
    const url = await client.begin(1000)
    expect((await usage()).reserved - before.reserved).toBe(1000)
    expect(await lapseReservations({ db: database().db, clock: site.clock })).toBe(0)
    site.clock.advance(hours(1) + 1)
    expect(await lapseReservations({ db: database().db, clock: site.clock })).toBe(1)
    expect(await usage()).toEqual(before)
    await renew()
    await client.patch(url, 0, randomBytes(400))
    expect(await usage()).toEqual({ used: before.used + 400, reserved: before.reserved + 600 })
    await client.patch(url, 400, randomBytes(600))
    expect(await usage()).toEqual({ used: before.used + 1000, reserved: before.reserved })
  })

  it('counts received bytes when it drops their reservation, and stops a writer whose lease has expired', async () => {
    const before = await usage()
    const url = await client.begin(1000)
    await client.patch(url, 0, randomBytes(400))
    const at = { pipeId: site.pipe.id, fileId: fileIdOf(url) }
    const upload = await openUpload(node.context, await node.context.rights.toContinue(client.token, at), {
      bytes: 600,
    })
    const move = (fromBytes: number, toBytes: number) =>
      advance(database().db, upload!.lease, { fromBytes, toBytes, crc32: 0 }, site.clock.now())
    await move(400, 500)
    site.clock.advance(hours(1) + 1)
    await lapseLeases(database().db)
    expect(await lapseReservations({ db: database().db, clock: site.clock })).toBe(1)
    expect(await usage()).toEqual({ used: before.used + 500, reserved: before.reserved })
    await expect(move(500, 600)).rejects.toMatchObject({ code: 'upload_locked' })
    upload!.lease.forget()
    await renew()
    expect((await client.head(url)).headers['upload-offset']).toBe('500')
  })

  it('renews a lapsed reservation before accepting bytes, or refuses them', async () => {
    const poor = await createSite(database(), { settings: { FREE_TIER_BYTES: '1000' } })
    const strict = await serveUploads(poor.runtime)
    const token = await poor.token({ expiresIn: 86_400 })
    const theirs = tusClient({ url: strict.url, pipeId: poor.pipe.id, token })
    const first = await theirs.begin(1000)
    poor.clock.advance(hours(1) + 1)
    expect(await lapseReservations({ db: database().db, clock: poor.clock })).toBe(1)
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
    const url = await client.begin(1000)
    await client.patch(url, 0, randomBytes(100))
    const file = { fileId: fileIdOf(url), workspaceId: site.workspaceId }
    await cancelUpload(node.context, file)
    expect(await usage()).toEqual({ used: before.used + 100, reserved: before.reserved })
    await cancelUpload(node.context, file)
    const done = await client.begin(3, {}, Buffer.from('abc'))
    await expect(
      cancelUpload(node.context, { fileId: fileIdOf(done), workspaceId: site.workspaceId }),
    ).rejects.toMatchObject({ code: 'conflict' })
    const stranger = { fileId: fileIdOf(done), workspaceId: '00000000-0000-7000-8000-000000000000' }
    await expect(cancelUpload(node.context, stranger)).rejects.toMatchObject({ code: 'upload_not_found' })
  })

  const reconciled = async () => {
    expect(await reconcileUploads(node.context)).toBe(1)
    await Promise.all(node.context.background)
  }

  it('fails a file after 24 hours without an object and one more attempt', async () => {
    const url = await client.begin(9 * MiB)
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 100, effect })
    expect((await client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await Promise.all(node.context.background)
    await expect(
      cancelUpload(node.context, { fileId: fileIdOf(url), workspaceId: site.workspaceId }),
    ).rejects.toMatchObject({ code: 'conflict' })
    site.clock.advance(hours(1))
    await reconciled()
    expect(await fileOf(url)).toMatchObject({ status: 'transferring' })
    for (const [waitMs, status] of [
      [hours(24), 'transferring'],
      [minutes(10), 'failed'],
    ] as const) {
      site.clock.advance(waitMs)
      await reconciled()
      expect(await fileOf(url)).toMatchObject({ status })
    }
    expect((await fileOf(url)).reason).toBe('The bucket has not accepted the object within 24 hours.')
    site.bucket.faults.clear()
  })

  it('finds an object that was created a day before its creation could be recorded', async () => {
    await renew()
    const url = await client.begin(9 * MiB)
    const operation = 'CompleteMultipartUpload'
    site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
    site.bucket.faults.add({ operation, call: 2, times: 100, effect: SLOW_DOWN })
    expect((await client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await Promise.all(node.context.background)
    site.bucket.faults.clear()
    site.clock.advance(hours(25))
    await reconciled()
    expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
  })

  it('does not report an object as missing if it may exist', async () => {
    await renew()
    const url = await client.begin(9 * MiB)
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 100, effect: SLOW_DOWN })
    expect((await client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    await Promise.all(node.context.background)
    for (const waitMs of [hours(25), minutes(10)]) {
      site.clock.advance(waitMs)
      await reconciled()
    }
    expect(await fileOf(url)).toMatchObject({ status: 'failed' })
    expect((await fileOf(url)).reason).toContain(`look for the object ${fileIdOf(url)}/file`)
    site.bucket.faults.clear()
  })
})

describeWithDatabase('an abandoned file', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    site = await createSite(database(), { bucket: { actions: ['s3:PutObject', 's3:GetObject'] } })
    node = await serveUploads(site.runtime)
    await database().db.execute(sql`update data_stores set may_read = true`)
  })
  beforeEach(async () => {
    client = await site.client(node)
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })
  const operation = 'CompleteMultipartUpload'
  const fileOf = async (url: string) =>
    (
      await rows<{ status: string; reason: string | null }>(
        database().db,
        sql`select status, failure_reason as reason from files where id = ${fileIdOf(url)}::uuid`,
      )
    )[0]!
  const send = async (bytes: number) => {
    const url = await client.begin(bytes)
    expect((await client.patch(url, 0, randomBytes(bytes))).status).toBe(204)
    await Promise.all(node.context.background)
    return url
  }
  const after = async (waitMs: number, context = node.context) => {
    site.clock.advance(waitMs)
    await reconcileUploads(context)
    await Promise.all(context.background)
  }

  it('tries again if the ledger could not record the object it found', async () => {
    site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
    site.bucket.faults.add({ operation, call: 2, times: 100, effect: SLOW_DOWN })
    const url = await send(9 * MiB)
    await after(hours(25))
    const away = () => Promise.reject(new Error('the database is away'))
    await after(minutes(10), { ...node.context, emitEvents: away })
    expect(await fileOf(url)).toMatchObject({ status: 'transferring' })
    await after(hours(1))
    expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
  })

  it('leaves the object that the customer is told to look for', async () => {
    const url = await client.begin(1000)
    const at = { pipeId: site.pipe.id, fileId: fileIdOf(url) }
    const { rights } = node.context
    const upload = await openUpload(node.context, await rights.toContinue(client.token, at), { bytes: 1000 })
    await fail(node.context, upload!, { reason: 'Nobody knows.', certainty: 'unknown' })
    const toClear = sql`select abort_pending as pending from file_destinations where file_id = ${at.fileId}::uuid`
    expect(await rows(database().db, toClear)).toEqual([{ pending: false }])
  })
})

describeWithDatabase('the quota', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  beforeAll(async () => {
    site = await createSite(database(), { settings: { FREE_TIER_BYTES: '10000' } })
    node = await serveUploads(site.runtime)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  describe('of 10,000 bytes', () => {
    it('admits 10 of 50 simultaneous uploads if there is room for 10, and refuses the rest with the reset date', async () => {
      const client = await site.client(node)
      const replies = await Promise.all(Array.from({ length: 50 }, () => client.create(990)))
      const refused = replies.filter(({ status }) => status === 403)
      expect(replies.filter(({ status }) => status === 201)).toHaveLength(10)
      expect(refused).toHaveLength(40)
      expect(JSON.parse(refused[0]!.body)).toMatchObject({
        code: 'quota_exceeded',
        detail: expect.stringContaining('-01 at'),
      })
      expect(JSON.parse(refused[0]!.body).detail).toMatch(
        /^The upload needs 990 bytes, but only 100 are left of this month's transfer quota of 10000\. It resets on/,
      )
      // The upload with the reservation can send its bytes.
      const made = replies.find(({ status }) => status === 201)!
      expect((await client.patch(made.headers.location!, 0, randomBytes(990))).status).toBe(204)
    })

    it("reports that waiting does not help a file larger than a month's quota", async () => {
      const client = await site.client(node)
      const { detail } = JSON.parse((await client.create(10_001)).body)
      expect(detail).toMatch(/^The upload needs 10001 bytes, but only \d+ are left/)
      expect(detail).toMatch(/The entire monthly quota is smaller than the 10001 bytes of this upload\.$/)
      expect(detail).not.toContain('resets')
    })

    it('reports that it is used up if nothing is left', async () => {
      const client = await site.client(node)
      const { headers } = await client.create(100)
      expect(JSON.parse((await client.create(1)).body).detail).toMatch(
        /^This month's transfer quota, 10000 bytes, is used up\. It resets on/,
      )
      expect((await client.terminate(headers.location!)).status).toBe(204)
    })

    it('limits an upload of unknown length as its bytes arrive', async () => {
      const client = await site.client(node)
      const url = await client.begin(null)
      expect((await client.patch(url, 0, randomBytes(50))).status).toBe(204)
      const reply = await client.patch(url, 50, randomBytes(200))
      expect(reply.status).toBe(403)
      expect((await client.head(url)).headers['upload-offset']).toBe('50')
    })
  })
})
