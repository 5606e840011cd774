/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { events, fileDestinations, fileParts, files, uploadTails } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { fileIdOf, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { minutes } from '../platform/kernel/clock.ts'
import { repairDestinations } from '../repairs/repair-destinations.ts'
import { findFinished } from './after-restore.ts'

const MiB = 1024 * 1024
const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
const _DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describe('a file with several destinations, in a database from before its objects were created', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  let buckets: TestBucket[]
  beforeAll(async () => {
    database = await openTestDatabase()
    const bucket = { actions: ['s3:PutObject', 's3:GetObject', 's3:ListBucket'] as const }
    const copy = (required: boolean) => ({ required, bucket: { actions: [...bucket.actions] } })
    site = await createSite(database, { bucket: copy(true).bucket, copies: [copy(true), copy(false)] })
    await database.db.execute(sql`update data_stores set may_read = true, updated_at = clock_timestamp()`)
    node = await serveUploads(site.runtime, { terms: { trailMs: 1500, pollMs: 20, assembleMs: 4000 } })
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
  async function stateOf(url: string) {
    await settled()
    const [file] = await rows(
      database.db,
      sql`select status, coalesce((select json_agg(e.missed_status order by e.id) from events e where e.file_id = f.id), '[]') as events,
        (select json_agg(concat_ws(' ', d.status, d.reason) order by d.position) from file_destinations d where d.file_id = f.id) as states
        from files f where f.id = ${fileIdOf(url)}::uuid`,
    )
    return file!
  }
  const everywhere = { status: 'transferred', events: ['transferred'], states: Array(3).fill('transferred') }
  const lacking = (reason: string) => ({
    status: 'partially_transferred',
    events: ['partially_transferred'],
    states: ['transferred', 'transferred', `failed ${reason}`],
  })
  /** The file's current rows in the database, to be restored later. */
  async function keep(url: string) {
    const { db } = database
    const id = fileIdOf(url)
    const [file] = await db.select().from(files).where(eq(files.id, id))
    const of = <Table extends typeof fileDestinations | typeof fileParts | typeof uploadTails>(
      table: Table,
    ) =>
      db
        .select()
        .from(table as typeof fileDestinations)
        .where(eq(table.fileId, id))
    const kept = [fileDestinations, fileParts, uploadTails].map(
      async (table) => [table, await of(table)] as const,
    )
    const tables = await Promise.all(kept)
    return async () => {
      await db.delete(events).where(eq(events.fileId, id))
      await db.update(files).set(file!).where(eq(files.id, id))
      for (const [table, content] of tables) {
        await db.delete(table).where(eq(table.fileId, id))
        if (content.length > 0) await db.insert(table as typeof fileDestinations).values(content)
      }
    }
  }
  /** Sends an entire file, and then makes the database forget everything after its first half. */
  async function forgotten(bytes: number, atLast = async () => {}) {
    const whole = randomBytes(bytes)
    const url = await client.begin(bytes)
    const half = bytes / 2
    expect((await client.patch(url, 0, whole.subarray(0, half))).status).toBe(204)
    await settled()
    const restore = await keep(url)
    await atLast()
    expect((await client.patch(url, half, whole.subarray(half))).status).toBe(204)
    const before = await stateOf(url)
    for (const { faults } of buckets) faults.clear()
    await restore()
    return { url, whole, half, before }
  }
  const _refuse = async () => buckets[2]!.faults.add({ operation: 'any', effect: REFUSED, times: 100 })
  async function repairAll() {
    await settled()
    site.clock.advance(minutes(2))
    while ((await repairDestinations(node.context)) > 0) await settled()
  }
  async function expectAt(places: TestBucket[], url: string, whole: Buffer) {
    for (const bucket of places)
      expect((await bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  }

  describe('when its client continues', () => {
    it('is found where its objects are', async () => {
      const { url, whole, half } = await forgotten(24 * MiB)
      expect((await client.patch(url, half, whole.subarray(half))).status).toBe(204)
      // The best-effort destination may have been the first to report that it has no such multipart upload.
      await repairAll()
      expect(await stateOf(url)).toMatchObject({ status: 'transferred', states: everywhere.states })
      await expectAt(buckets, url, whole)
    })

    it('fails if a required destination is missing its object', async () => {
      const { url, whole, half } = await forgotten(24 * MiB)
      await buckets[1]!.remove(`${fileIdOf(url)}/file`)
      expect((await client.patch(url, half, whole.subarray(half))).status).toBe(502)
      expect(await stateOf(url)).toMatchObject({ status: 'failed', events: ['failed'] })
    })
  })

  describe('after a restore', () => {
    it('is found where its objects are', async () => {
      const { url } = await forgotten(24 * MiB)
      expect((await findFinished(node.context)).found).toEqual([fileIdOf(url)])
      expect(await stateOf(url)).toEqual(everywhere)
    })

    it('is partially transferred if a best-effort destination does not have the object', async () => {
      const { url } = await forgotten(24 * MiB)
      await buckets[2]!.remove(`${fileIdOf(url)}/file`)
      expect((await findFinished(node.context)).found).toEqual([fileIdOf(url)])
      expect(await stateOf(url)).toEqual(lacking('unknown'))
    })

    it('stays unchanged if a required destination does not have the object', async () => {
      const { url } = await forgotten(24 * MiB)
      await buckets[0]!.remove(`${fileIdOf(url)}/file`)
      expect((await findFinished(node.context)).found).toEqual([])
      expect(await stateOf(url)).toMatchObject({ status: 'uploading', events: [] })
    })
  })
})
