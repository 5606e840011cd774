import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../test/support/databases.ts'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from '../../test/support/upload-site.ts'
import { eraseFile } from '../dashboard/files/act-on-files.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { hours, minutes } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { RETRY_DELAYS_MS } from '../platform/kernel/retry-schedule.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { claimRepairs, recordRepairedPart } from './repair-claims.ts'
import { repairDestinations } from './repair-destinations.ts'
import { NO_SOURCE, requestRepair } from './request-repair.ts'

const MiB = 1024 * 1024
const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const

describe('a destination that is missing an object', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let source: TestBucket
  let target: TestBucket
  let second: TestBucket
  beforeAll(async () => {
    database = await openTestDatabase()
    const readable = { actions: ['s3:PutObject', 's3:GetObject'] as const }
    const abortable = { actions: ['s3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'] as const }
    site = await createSite(database, {
      bucket: { actions: [...readable.actions] },
      copies: [
        { required: true, bucket: { actions: [...readable.actions] } },
        { required: false, bucket: { actions: [...abortable.actions] } },
      ],
    })
    await mayRead(true)
    await database.db.execute(sql`update data_stores set may_abort = true, may_delete = true, updated_at = now()
      where id = ${site.copies[1]!.dataStore.id}::uuid`)
    node = await serveUploads(site.runtime, { terms: { trailMs: 1500, pollMs: 20 } })
    source = site.bucket
    ;[second, target] = site.copies.map((one) => one.bucket) as [TestBucket, TestBucket]
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  beforeEach(async () => {
    for (const { faults } of [source, second, target]) faults.clear()
    await mayRead(true)
    await database.db.execute(sql`update file_destinations set repair_at = null`)
  })

  const mayRead = (may: boolean) =>
    database.db.execute(sql`update data_stores set may_read = ${may}, updated_at = now()
      where workspace_id = ${site.workspaceId}::uuid and id <> ${site.copies[1]!.dataStore.id}::uuid`)
  const to = (url: string) => ({ fileId: fileIdOf(url), dataStoreId: site.copies[1]!.dataStore.id })
  const settled = async () => {
    while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
  }
  const repairAll = async () => {
    while ((await repairDestinations(node.context)) > 0) await settled()
  }
  const stateOf = async (url: string) => {
    const [file] = await rows<Record<string, unknown>>(
      database.db,
      sql`select f.status, coalesce((select json_agg(e.missed_status order by e.id) from events e where e.file_id = f.id), '[]') as events,
        d.status as there, d.reason_detail as detail, d.repair_attempts as failures, d.repair_at is not null as "isPlanned",
        (select count(*)::int from repaired_parts p where p.file_id = f.id) as parts
        from files f join file_destinations d on d.file_id = f.id and not d.required where f.id = ${fileIdOf(url)}::uuid`,
    )
    return file!
  }
  /**
   * Uploads a file that one destination refuses, and moves the clock a minute, after which no request to it
   * is in flight.
   */
  async function lacking(bytes: number) {
    const whole = randomBytes(bytes)
    const client = await site.client(node)
    target.faults.add({ operation: 'any', effect: REFUSED, times: 100 })
    const url = await client.begin(bytes)
    if (bytes > 0) expect((await client.patch(url, 0, whole)).status).toBe(204)
    await settled()
    target.faults.clear()
    site.clock.advance(minutes(1))
    expect(await stateOf(url)).toMatchObject({ status: 'partially_transferred', isPlanned: true })
    return { url, whole }
  }
  const objectIn = async (bucket: TestBucket, url: string) => {
    const key = (await bucket.objects()).find((one) => one.startsWith(fileIdOf(url)))
    return key === undefined ? undefined : bucket.object(key)
  }
  const repaired = {
    status: 'transferred',
    events: ['partially_transferred', 'transferred'],
    there: 'transferred',
    detail: null,
    isPlanned: false,
    parts: 0,
  }

  it.each([
    ['no bytes', 0],
    ['one part', MiB],
    ['several parts', 20 * MiB],
  ])('gets a copy of %s, and the file gets another event', async (_, bytes) => {
    const { url, whole } = await lacking(bytes)
    const counted = () => rows(database.db, sql`select what from tallies where pipe_id = ${site.pipe.id}`)
    const before = await counted()
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
    expect(await target.unfinished()).toEqual([])
    expect(node.context.budget.usedBytes).toBe(0)
    expect(await counted()).toEqual(before)
  })

  it('continues after the parts that an earlier attempt copied', { tags: 'long' }, async () => {
    const { url, whole } = await lacking(20 * MiB)
    target.faults.add({ operation: 'UploadPart', partNumber: 2, effect: REFUSED })
    await repairAll()
    expect(await stateOf(url)).toMatchObject({ there: 'failed', parts: 1, failures: 0, isPlanned: true })
    target.faults.add({ operation: 'UploadPart', partNumber: 1, effect: REFUSED, times: 100 })
    site.clock.advance(minutes(1))
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
  })

  it('has the multipart upload that was left there aborted before the copy starts', {
    tags: 'long',
  }, async () => {
    const whole = randomBytes(20 * MiB)
    const client = await site.client(node)
    target.faults.add({ operation: 'UploadPart', partNumber: 2, effect: REFUSED })
    const url = await client.begin(whole.length)
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await settled()
    await repairAll()
    expect(await stateOf(url)).toMatchObject({ there: 'failed' })
    target.faults.add({ operation: 'AbortMultipartUpload', effect: REFUSED })
    site.clock.advance(minutes(1))
    await repairAll()
    expect(await stateOf(url)).toMatchObject({ there: 'failed', isPlanned: true })
    site.clock.advance(minutes(1))
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    await clearLeftovers(node.context)
    expect(await target.unfinished()).toEqual([])
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
  })

  it('is reported if no destination can be read, and repaired once one can be read', async () => {
    await mayRead(false)
    const { url } = await lacking(MiB)
    await repairAll()
    expect(await stateOf(url)).toMatchObject({
      there: 'failed',
      detail: NO_SOURCE,
      failures: 1,
      isPlanned: true,
    })
    await expect(requestRepair(site.runtime, site.actor, to(url))).rejects.toThrow(NO_SOURCE)
    await mayRead(true)
    await requestRepair(site.runtime, site.actor, to(url))
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
  })

  it.each([
    ['one part', MiB],
    ['several parts', 20 * MiB],
  ])('never gets bytes that differ from the uploaded ones, for %s', { tags: 'long' }, async (_, bytes) => {
    const { url, whole } = await lacking(bytes)
    const other = randomBytes(bytes)
    const key = (await source.objects()).find((one) => one.startsWith(fileIdOf(url)))!
    await source.replace(key, other)
    await repairDestinations(node.context)
    await settled()
    expect(await stateOf(url)).toMatchObject({ there: 'failed', parts: 0, failures: 1, isPlanned: true })
    expect((await stateOf(url)).detail).toContain('is not the uploaded one')
    expect(await objectIn(target, url)).toBeUndefined()
    site.clock.advance(minutes(2))
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
    expect(await target.unfinished()).toEqual([])
  })

  it('is abandoned after the last attempt, and can be retried manually', async () => {
    const { url } = await lacking(20 * MiB)
    target.faults.add({ operation: 'any', effect: REFUSED, times: 1000 })
    for (const [n, delayMs] of [...RETRY_DELAYS_MS, 0].entries()) {
      expect(await repairDestinations(node.context)).toBe(1)
      await settled()
      expect(await stateOf(url)).toMatchObject({ failures: n + 1, isPlanned: n < RETRY_DELAYS_MS.length })
      site.clock.advance(delayMs * 1.11)
    }
    site.clock.advance(hours(100))
    expect(await repairDestinations(node.context)).toBe(0)
    target.faults.clear()
    await requestRepair(site.runtime, site.actor, to(url))
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    const audited = await rows(
      database.db,
      sql`select detail from audit_log where subject_id = ${fileIdOf(url)} and action = 'file.repair_requested'`,
    )
    expect(audited).toEqual([{ detail: { destinationId: to(url).dataStoreId } }])
  })

  it('is retried if a retry is requested during the last attempt', async () => {
    const { url } = await lacking(MiB)
    await database.db.execute(
      sql`update file_destinations set repair_attempts = ${RETRY_DELAYS_MS.length} where file_id = ${fileIdOf(url)}::uuid`,
    )
    source.faults.add({ operation: 'GetObject', effect: { kind: 'hold', gate: 'read' } })
    target.faults.add({ operation: 'PutObject', effect: REFUSED })
    const reads = () => source.traffic.counts().GetObject ?? 0
    const before = reads()
    const attempt = repairDestinations(node.context)
    await expect.poll(reads).toBe(before + 1)
    site.clock.advance(1000)
    await requestRepair(site.runtime, site.actor, to(url))
    source.faults.release('read')
    await attempt
    await settled()
    expect(await stateOf(url)).toMatchObject({ there: 'failed', failures: 0, isPlanned: true })
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
  })

  it('continues on a node with less memory, in parts of the same size', { tags: 'long' }, async () => {
    const found = (capabilities: object | null) =>
      database.db.execute(
        sql`update data_stores set found = ${capabilities && JSON.stringify(capabilities)}::jsonb, updated_at = clock_timestamp()
          where id = ${site.copies[1]!.dataStore.id}::uuid`,
      )
    await found({ maxParts: 4 })
    const { url, whole } = await lacking(30 * MiB)
    const sentBefore = target.traffic.counts().UploadPart ?? 0
    target.faults.add({ operation: 'UploadPart', partNumber: 2, effect: REFUSED })
    await repairAll()
    expect(await stateOf(url)).toMatchObject({ there: 'failed', parts: 1 })
    site.clock.advance(minutes(1))
    const config = { ...site.runtime.config, uploadMemoryBytes: 64 * MiB }
    const smaller = await serveUploads({ ...site.runtime, config })
    expect(await repairDestinations(smaller.context)).toBe(1)
    await smaller.close()
    await found(null)
    expect(await stateOf(url)).toMatchObject(repaired)
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
    expect(target.traffic.counts().UploadPart! - sentBefore).toBe(3 + 1)
  })

  it('can be repaired on request while a worker records something, without either waiting for the other', async () => {
    const { url } = await lacking(MiB)
    let asking: Promise<void> | undefined
    await database.db.transaction(async (tx) => {
      await tx.execute(sql`set local deadlock_timeout = '1ms'`)
      await tx.execute(
        sql`select 1 from file_destinations where file_id = ${fileIdOf(url)}::uuid and not required for update`,
      )
      asking = requestRepair(site.runtime, site.actor, to(url))
      await blocked(database)
      await tx.execute(sql`insert into file_timeline (id, file_id, kind, at)
        values (${uuidv7(site.clock.now())}::uuid, ${fileIdOf(url)}::uuid, 'repair_failed', now())`)
    })
    await asking
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
  })

  it('is found to have the object if the response to Complete was lost', { tags: 'long' }, async () => {
    const { url, whole } = await lacking(20 * MiB)
    target.faults.add({
      operation: 'CompleteMultipartUpload',
      at: 'answer',
      effect: { kind: 'cut' },
      times: 10,
    })
    await repairAll()
    expect(await stateOf(url)).toMatchObject({ there: 'failed', parts: 3 })
    target.faults.clear()
    site.clock.advance(minutes(1))
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
  })

  it('leaves no multipart upload if the bucket already has the object', async () => {
    const { url, whole } = await lacking(20 * MiB)
    await target.replace((await source.objects()).find((one) => one.startsWith(fileIdOf(url)))!, whole)
    await repairAll()
    expect(await stateOf(url)).toMatchObject(repaired)
    expect(await target.unfinished()).toHaveLength(1)
    site.clock.advance(minutes(1))
    await clearLeftovers(node.context)
    expect(await target.unfinished()).toEqual([])
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
  })

  it('is taken over from a worker that was presumed dead, whose later actions change nothing', async () => {
    const { url, whole } = await lacking(20 * MiB)
    const limits = { limit: 1, limitPerBucket: 1, busy: [], nowMs: site.clock.now() }
    const [dead] = await claimRepairs(database.db, -1, limits)
    await repairAll()
    const part = { number: 1, sizeBytes: 5, etag: '"late"', crc32: 1 }
    expect(await recordRepairedPart(database.db, dead!, part, 1000)).toBe(false)
    expect(await stateOf(url)).toMatchObject(repaired)
    expect((await objectIn(target, url))!.equals(whole)).toBe(true)
  })

  it('can be repaired manually only if that can succeed', async () => {
    const { url } = await lacking(MiB)
    const repair = (at = to(url)) => requestRepair(site.runtime, site.actor, at)
    await expect(repair({ ...to(url), dataStoreId: site.dataStore.id })).rejects.toThrow('has the object')
    await expect(repair({ ...to(url), fileId: site.workspaceId })).rejects.toThrow('no such')
    await expect(repair({ ...to(url), dataStoreId: 'x' })).rejects.toThrow('no such')
    const stranger = { ...site.actor, workspaceId: site.dataStore.id }
    await expect(requestRepair(site.runtime, stranger, to(url))).rejects.toThrow('no such')
    await database.db.execute(
      sql`update data_stores set turned_off_at = now() where id = ${to(url).dataStoreId}::uuid`,
    )
    await expect(repair()).rejects.toThrow('turned off')
    await database.db.execute(
      sql`update data_stores set turned_off_at = null where id = ${to(url).dataStoreId}::uuid`,
    )
    await repairAll()
    await expect(repair()).rejects.toThrow('has the object')
  })

  it('has nothing left over if the record is erased before the repair', { tags: 'long' }, async () => {
    const { url } = await lacking(20 * MiB)
    target.faults.add({ operation: 'UploadPart', partNumber: 2, effect: REFUSED })
    await repairAll()
    expect(await target.unfinished()).toHaveLength(1)
    await eraseFile(site.runtime, site.actor, fileIdOf(url))
    site.clock.advance(minutes(5))
    expect(await repairDestinations(node.context)).toBe(0)
    await clearLeftovers(node.context)
    expect(await target.unfinished()).toEqual([])
  })
})
