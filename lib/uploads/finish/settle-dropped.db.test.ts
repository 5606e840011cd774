/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { events, fileDestinations, fileParts, files, uploadTails } from '#drizzle/schema/index.ts'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, type TusClient, tusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { addOutput } from '../../../test/support/webhook-rows.ts'
import { showFile } from '../../dashboard/files/show-file.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'

const MiB = 1024 * 1024
describe("an upload whose object was created after the database's state", () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, {
      bucket: { actions: ['s3:PutObject', 's3:GetObject', 's3:ListBucket'] },
    })
    node = await serveUploads(site.runtime)
    client = await site.client(node)
    const place = { workspaceId: site.workspaceId, pipeId: site.pipe.id }
    await addOutput(database.db, 'http://127.0.0.1:1/', { ...place, statuses: ['failed'] })
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const maySetRead = (may: boolean) =>
    database.db.execute(sql`update data_stores set may_read = ${may}, updated_at = clock_timestamp()`)
  /** Saves a file's rows as a dump would, to be restored later. */
  const dump = async (url: string) => {
    const { db } = database
    const id = fileIdOf(url)
    const [file] = await db.select().from(files).where(eq(files.id, id))
    const [destination] = await db.select().from(fileDestinations).where(eq(fileDestinations.fileId, id))
    const parts = await db.select().from(fileParts).where(eq(fileParts.fileId, id))
    const tails = await db.select().from(uploadTails).where(eq(uploadTails.fileId, id))
    return async () => {
      await db.delete(events).where(eq(events.fileId, id))
      await db.delete(uploadTails).where(eq(uploadTails.fileId, id))
      await db.update(files).set(file!).where(eq(files.id, id))
      await db.update(fileDestinations).set(destination!).where(eq(fileDestinations.fileId, id))
      if (parts.length > 0) await db.insert(fileParts).values(parts)
      if (tails.length > 0) await db.insert(uploadTails).values(tails)
    }
  }
  const restored = async () => {
    const whole = randomBytes(17 * MiB)
    const url = await client.begin(whole.length)
    await client.patch(url, 0, whole.subarray(0, 8 * MiB))
    const restore = await dump(url)
    expect((await client.patch(url, 8 * MiB, whole.subarray(8 * MiB))).status).toBe(204)
    await Promise.all(node.context.background)
    await restore()
    return { url, rest: whole.subarray(8 * MiB) }
  }
  const told = async (url: string) => {
    const written = await database.db
      .select()
      .from(events)
      .where(eq(events.fileId, fileIdOf(url)))
    return written.map(({ payload }) => JSON.parse(payload!).data)
  }

  it('is transferred if the object is found, and no later webhook contradicts the first', async () => {
    await maySetRead(true)
    const { url, rest } = await restored()
    const used = () =>
      database.db
        .execute(sql`select used_bytes::float8 as used from usage_months`)
        .then((found) => Number((found as unknown as { used: number }[])[0]!.used))
    const before = await used()
    const reply = await client.patch(url, 8 * MiB, rest)
    expect([reply.status, reply.headers['upload-offset']]).toEqual([204, String(17 * MiB)])
    const head = await client.head(url)
    expect(head.headers['upload-offset']).toBe(head.headers['upload-length'])
    expect(await told(url)).toMatchObject([
      { status: 'transferred', size: 17 * MiB, checksum: null, destinations: [{ status: 'transferred' }] },
    ])
    expect(await used()).toBe(before + rest.length)
    const file = await showFile(site.runtime, site.actor, fileIdOf(url))
    expect(file).toMatchObject({ status: 'transferred', offset: 17 * MiB, checksum: null })
    expect(file.timeline.filter(({ kind }) => kind === 'completed').at(-1)!.detail).toEqual({
      certainty: 'found',
    })
  })

  it('fails as dropped if there is no object', async () => {
    await maySetRead(true)
    const { url, rest } = await restored()
    await site.bucket.remove(`${fileIdOf(url)}/file`)
    expect((await client.patch(url, 8 * MiB, rest)).status).toBe(502)
    const [data] = await told(url)
    expect(data).toMatchObject({ status: 'failed', destinations: [{ status: 'failed' }] })
    expect(data.destinations[0]).not.toHaveProperty('reason')
  })

  it('fails as dropped if a Complete may have happened, but there is no object', async () => {
    await maySetRead(true)
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(whole.length)
    const complete = { operation: 'CompleteMultipartUpload', times: 100 } as const
    site.bucket.faults.add({ ...complete, effect: { kind: 'refuse', status: 503, code: 'SlowDown' } })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    await Promise.all(node.context.background)
    site.bucket.faults.clear()
    site.bucket.faults.add({ ...complete, effect: { kind: 'refuse', status: 404, code: 'NoSuchUpload' } })
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    expect(await told(url)).toMatchObject([{ status: 'failed', destinations: [{ status: 'failed' }] }])
    expect((await showFile(site.runtime, site.actor, fileIdOf(url))).failureReason).toContain('has dropped')
  })

  it('fails as unknown if the credentials cannot show whether there is an object', async () => {
    await maySetRead(true)
    const { url, rest } = await restored()
    const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
    site.bucket.faults.add({ operation: 'HeadObject', times: 100, effect })
    expect((await client.patch(url, 8 * MiB, rest)).status).toBe(502)
    expect(await told(url)).toMatchObject([
      { status: 'failed', destinations: [{ status: 'failed', reason: 'unknown' }] },
    ])
    expect(await site.bucket.objects()).toContain(`${fileIdOf(url)}/file`)
  })

  it('fails as unknown, with the key to look for, if the credentials do not allow reading', async () => {
    await maySetRead(false)
    const { url, rest } = await restored()
    expect((await client.patch(url, 8 * MiB, rest)).status).toBe(502)
    expect(await told(url)).toMatchObject([
      { status: 'failed', destinations: [{ status: 'failed', reason: 'unknown' }] },
    ])
    const file = await showFile(site.runtime, site.actor, fileIdOf(url))
    expect(file.failureReason).toContain(`look for the object ${fileIdOf(url)}/file`)
    expect(file.destinations).toMatchObject([{ status: 'failed', reason: 'unknown' }])
  })

  it('continues if the bucket currently cannot tell whether there is an object', async () => {
    await maySetRead(true)
    const { url, rest } = await restored()
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'HeadObject', times: 100, effect })
    expect((await client.patch(url, 8 * MiB, rest)).status).toBe(502)
    expect((await client.head(url)).headers['upload-offset']).toBe(String(8 * MiB))
    site.bucket.faults.clear()
    expect((await client.patch(url, 8 * MiB, rest)).status).toBe(204)
  })

  it('is found by the reconciler if its last bytes are a tail', async () => {
    await maySetRead(true)
    const impatient = await serveUploads(site.runtime, { terms: { assembleMs: 300 } })
    const { token } = client
    const hasty = tusClient({ url: impatient.url, pipeId: site.pipe.id, token })
    const whole = randomBytes(9 * MiB)
    const url = await hasty.begin(whole.length)
    const effect = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 2, times: 100, effect })
    expect((await hasty.patch(url, 0, whole)).status).toBe(204)
    const restore = await dump(url)
    site.bucket.faults.clear()
    const settled = async () => {
      site.clock.advance(60_000)
      await reconcileUploads(node.context)
      return (await showFile(site.runtime, site.actor, fileIdOf(url))).status
    }
    await expect.poll(settled).toBe('transferred')
    await restore()
    await expect.poll(settled).toBe('transferred')
    const file = await showFile(site.runtime, site.actor, fileIdOf(url))
    expect(file.checksum).not.toBeNull()
    await impatient.close()
  })
})
