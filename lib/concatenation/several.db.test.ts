/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { type SQL, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../test/support/databases.ts'
import { fileIdOf, metadata, type TusClient, tusCall } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { hours, minutes } from '../platform/kernel/clock.ts'
import { clearLeftovers } from '../recovery/clear-leftovers.ts'
import { reconcileUploads } from '../recovery/reconcile.ts'
import { expireUploads } from '../recovery/upload-sweeps.ts'
import { repairDestinations } from '../repairs/repair-destinations.ts'

const MiB = 1024 * 1024
const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
const DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describe('concatenation at two required destinations and one best-effort destination', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  let token: string
  let buckets: TestBucket[]
  beforeAll(async () => {
    database = await openTestDatabase()
    const bucket = {
      actions: ['s3:PutObject', 's3:GetObject', 's3:DeleteObject', 's3:AbortMultipartUpload'] as const,
    }
    const copy = (required: boolean) => ({ required, bucket: { actions: [...bucket.actions] } })
    site = await createSite(database, { bucket: copy(true).bucket, copies: [copy(true), copy(false)] })
    await change(sql`may_read = true, may_delete = true, may_abort = true`)
    node = await serveUploads(site.runtime, { terms: { trailMs: 1500, pollMs: 20, assembleMs: 4000 } })
    buckets = [site.bucket, ...site.copies.map((one) => one.bucket)]
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  beforeEach(async () => {
    token = await site.token()
    client = await site.client(node)
    for (const { faults } of buckets) faults.clear()
  })

  const change = (set: SQL, where = sql`true`) =>
    database.db.execute(
      sql`update data_stores set ${set}, updated_at = clock_timestamp() where workspace_id = ${site.workspaceId}::uuid and ${where}`,
    )
  const settled = async () => {
    while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
  }
  async function pieces(sizes: number[]) {
    const whole = sizes.map((size) => randomBytes(size))
    const urls: string[] = []
    for (const bytes of whole) {
      const url = await client.begin(bytes.length, { 'Upload-Concat': 'partial' })
      expect((await client.patch(url, 0, bytes)).status).toBe(204)
      urls.push(url)
    }
    await settled()
    return { urls, whole: Buffer.concat(whole) }
  }
  const join = (urls: string[]) =>
    tusCall({
      method: 'POST',
      url: client.collection,
      token,
      headers: {
        'Upload-Concat': `final;${urls.join(' ')}`,
        'Upload-Metadata': metadata({ filename: 'whole' }),
      },
    })
  async function stateOf(url: string) {
    await settled()
    const [file] = await rows(
      database.db,
      sql`select status, coalesce((select json_agg(e.missed_status order by e.id) from events e where e.file_id = f.id), '[]') as events,
        (select json_agg(d.status order by d.position) from file_destinations d where d.file_id = f.id) as destinations
        from files f where f.id = ${fileIdOf(url)}::uuid`,
    )
    return file!
  }
  const everywhere = {
    status: 'transferred',
    events: ['transferred'],
    destinations: Array(3).fill('transferred'),
  }
  const lacking = {
    status: 'partially_transferred',
    events: ['partially_transferred'],
    destinations: ['transferred', 'transferred', 'failed'],
  }
  const repaired = { ...everywhere, events: ['partially_transferred', 'transferred'] }
  /** Expects the joined object at each of these places, and none of its pieces. */
  async function expectAt(places: TestBucket[], url: string, urls: string[], whole: Buffer) {
    site.clock.advance(minutes(2))
    await clearLeftovers(node.context)
    for (const bucket of places) {
      expect((await bucket.object(`${fileIdOf(url)}/whole`)).equals(whole)).toBe(true)
      const left = (await bucket.objects()).filter((key) => urls.some((one) => key.startsWith(fileIdOf(one))))
      expect(left).toEqual([])
      expect(await bucket.unfinished()).toEqual([])
    }
  }
  async function repairAll() {
    site.clock.advance(minutes(2))
    while ((await repairDestinations(node.context)) > 0) await settled()
  }

  it.each([
    ['large pieces', [6 * MiB, 9 * MiB + 1, 5 * MiB]],
    ['small pieces', [1000, 2 * MiB, 3, 12 * MiB, MiB]],
    ['an empty piece and a large piece', [0, 6 * MiB]],
  ])('joins %s into the same object at each destination', async (_, sizes) => {
    const { urls, whole } = await pieces(sizes)
    const made = await join(urls)
    expect(made.status).toBe(201)
    const url = made.headers.location!
    expect(await stateOf(url)).toEqual(everywhere)
    await expectAt(buckets, url, urls, whole)
  })

  it('is advertised if the credentials of each destination allow reading and deleting', async () => {
    const extensions = async () =>
      (await tusCall({ method: 'OPTIONS', url: client.collection })).headers['tus-extension']
    expect(await extensions()).toContain('concatenation')
    const second = sql`id = ${site.copies[0]!.dataStore.id}::uuid`
    await change(sql`may_read = false`, second)
    expect(await extensions()).not.toContain('concatenation')
    const reply = await client.create(5, { 'Upload-Concat': 'partial' })
    expect(JSON.parse(reply.body).detail).toContain('credentials of a Data Store do not allow reading')
    await change(sql`may_read = true`, second)
  })

  it('continues without a best-effort destination that is missing a piece, and copies the file there later', async () => {
    buckets[2]!.faults.add({ operation: 'PutObject', effect: REFUSED })
    const { urls, whole } = await pieces([6 * MiB, 5 * MiB])
    const url = (await join(urls)).headers.location!
    expect(await stateOf(url)).toEqual(lacking)
    await expectAt(buckets.slice(0, 2), url, urls, whole)
    await repairAll()
    expect(await stateOf(url)).toEqual(repaired)
    await expectAt(buckets, url, urls, whole)
  })

  it('continues without a best-effort destination that cannot join the pieces', async () => {
    const { urls, whole } = await pieces([6 * MiB, 5 * MiB])
    buckets[2]!.faults.add({ operation: 'UploadPartCopy', effect: REFUSED, times: 100 })
    const url = (await join(urls)).headers.location!
    expect(await stateOf(url)).toEqual(lacking)
    await repairAll()
    expect(await stateOf(url)).toEqual(repaired)
    await expectAt(buckets, url, urls, whole)
  })

  it('succeeds later if a required destination fails at first', async () => {
    const { urls, whole } = await pieces([6 * MiB, 5 * MiB])
    buckets[1]!.faults.add({ operation: 'UploadPartCopy', effect: DOWN, times: 100 })
    const made = await join(urls)
    expect(made.status).toBe(201)
    const url = made.headers.location!
    expect(await stateOf(url)).toMatchObject({ status: 'transferring' })
    buckets[1]!.faults.clear()
    site.clock.advance(minutes(1))
    await reconcileUploads(node.context)
    expect(await stateOf(url)).toEqual(everywhere)
    await expectAt(buckets, url, urls, whole)
  })

  it('deletes unjoined pieces at every destination, even an abandoned one', async () => {
    buckets[2]!.faults.add({ operation: 'PutObject', effect: REFUSED })
    const { urls } = await pieces([1000, 2000])
    site.clock.advance(hours(7))
    await expireUploads(node.context)
    site.clock.advance(minutes(1))
    await clearLeftovers(node.context)
    for (const bucket of buckets)
      expect(
        (await bucket.objects()).filter((key) => urls.some((one) => key.startsWith(fileIdOf(one)))),
      ).toEqual([])
    expect(await repairDestinations(node.context)).toBe(0)
  })
})
