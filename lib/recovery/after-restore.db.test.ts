import { randomBytes } from 'node:crypto'
import { eq, inArray, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { events, fileDestinations, files, usageMonths } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../test/support/databases.ts'
import { fileIdOf, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { showFile } from '../dashboard/files/show-file.ts'
import type { DatabaseHandle } from '../platform/db/database.ts'
import { days } from '../platform/kernel/clock.ts'
import { findFinished, listUnknown } from './after-restore.ts'
import { clearLeftovers } from './clear-leftovers.ts'
import { dropLapsedLeases } from './restored.ts'
import { expireUploads } from './upload-sweeps.ts'

const BYTES = 1000
const keyOf = (url: string) => `${fileIdOf(url)}/file`

describe('after a restore', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    const actions = ['s3:PutObject', 's3:GetObject', 's3:DeleteObject', 's3:ListBucket'] as const
    site = await createSite(database, { bucket: { actions: [...actions] } })
    node = await serveUploads(site.runtime)
    client = await site.client(node)
    await mayRead(true)
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const mayRead = (may: boolean) =>
    database.db.execute(
      sql`update data_stores set may_read = ${may}, may_delete = true, updated_at = clock_timestamp()`,
    )
  const begin = () => client.begin(BYTES)
  const finish = async (url: string) =>
    expect((await client.patch(url, 0, randomBytes(BYTES))).status).toBe(204)
  /** A finished upload whose rows were then reset to a dump taken while its bytes arrived. */
  const finishedAfterDump = async () => {
    const { db } = database
    const url = await begin()
    const [file] = await db
      .select()
      .from(files)
      .where(eq(files.id, fileIdOf(url)))
    await finish(url)
    await db.delete(events).where(eq(events.fileId, fileIdOf(url)))
    const leased = { ...file!, leaseHolder: 'before the dump', leaseUntil: new Date(0), leaseFence: 1 }
    await db
      .update(files)
      .set(leased)
      .where(eq(files.id, fileIdOf(url)))
    await db
      .update(fileDestinations)
      .set({ status: 'pending', etag: null, certainty: null })
      .where(eq(fileDestinations.fileId, fileIdOf(url)))
    return url
  }
  const statusOf = async (url: string) => (await showFile(site.runtime, site.actor, fileIdOf(url))).status

  it('uploads whose objects exist become transferred, and other uploads continue', async () => {
    const finished = await finishedAfterDump()
    const open = await begin()
    expect(await findFinished(node.context)).toEqual({ looked: 2, found: [fileIdOf(finished)] })
    expect(await statusOf(finished)).toBe('transferred')
    const told = await database.db
      .select()
      .from(events)
      .where(eq(events.fileId, fileIdOf(finished)))
    expect(told).toMatchObject([{ missedStatus: 'transferred' }])
    await finish(open)
    expect(await findFinished(node.context)).toEqual({ looked: 0, found: [] })
  })

  it('a file with lanes becomes transferred, and each of its bytes is counted once', async () => {
    const { db } = database
    const usage = async () =>
      (await db.select().from(usageMonths).where(eq(usageMonths.workspaceId, site.workspaceId)))[0]!
    const before = await usage()
    const bytes = randomBytes(20 * 1024 * 1024)
    const reply = await client.create(bytes.length, { 'Upload-Lanes': '2' })
    const lanes: { url: string; firstByte: number; length: number }[] = JSON.parse(reply.body).lanes
    const send = ({ url, firstByte, length }: (typeof lanes)[number], from: number, to = length) =>
      client.patch(url, from, bytes.subarray(firstByte + from, firstByte + to))
    await send(lanes[0]!, 0, 1000)
    const id = fileIdOf(reply.headers.location!)
    const ids = [id, ...lanes.map(({ url }) => fileIdOf(url))]
    const dumped = await db.select().from(files).where(inArray(files.id, ids))
    const counted = await usage()
    await Promise.all([send(lanes[0]!, 1000), send(lanes[1]!, 0)])
    await Promise.all(node.context.background)
    await db.delete(events).where(eq(events.fileId, id))
    for (const row of dumped) await db.update(files).set(row).where(eq(files.id, row.id))
    await db.update(usageMonths).set(counted).where(eq(usageMonths.workspaceId, site.workspaceId))
    await db
      .update(fileDestinations)
      .set({ status: 'pending', etag: null, certainty: null })
      .where(eq(fileDestinations.fileId, id))
    expect((await findFinished(node.context)).found).toEqual([id])
    expect(await statusOf(reply.headers.location!)).toBe('transferred')
    expect((await client.head(lanes[1]!.url)).headers['upload-offset']).toBe('0')
    const { usedBytes, reservedBytes } = await usage()
    expect([usedBytes - before.usedBytes, reservedBytes]).toEqual([bytes.length, before.reservedBytes])
  })

  it('a delivered object is not deleted when its upload expires', async () => {
    await mayRead(false)
    const url = await finishedAfterDump()
    expect(await findFinished(node.context)).toEqual({ looked: 0, found: [] })
    expect(await dropLapsedLeases(database.db)).toBe(1)
    site.clock.advance(days(8))
    expect(await expireUploads(node.context)).toBe(1)
    site.clock.advance(days(1))
    await clearLeftovers(node.context)
    expect(await site.bucket.objects()).toContain(keyOf(url))
    await mayRead(true)
  })

  it('lists objects that are not in the database, page by page', async () => {
    client = await site.client(node)
    const [known, unknown] = [await begin(), await begin()]
    await finish(known)
    await finish(unknown)
    await database.db.delete(files).where(eq(files.id, fileIdOf(unknown)))
    const dataStore = { dataStoreId: site.dataStore.id, name: 'Bucket', workspaceId: site.workspaceId }
    const object = { key: keyOf(unknown), bytes: BYTES, modifiedAt: expect.any(String) }
    const listed = [{ ...dataStore, listed: true, unknown: [object] }]
    expect(await listUnknown(node.context, 0)).toEqual(listed)
    const later = [{ ...dataStore, listed: true, unknown: [] }]
    expect(await listUnknown(node.context, site.clock.now() + days(1))).toEqual(later)
  })

  it('names a Data Store whose credentials do not allow listing', async () => {
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'ListObjectsV2', effect })
    const [listed] = await listUnknown(node.context, 0)
    expect(listed).toMatchObject({ listed: false, reason: expect.stringContaining('AccessDenied') })
  })
})
