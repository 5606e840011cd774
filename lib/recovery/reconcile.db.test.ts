import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../test/support/databases.ts'
import { elapse } from '../../test/support/elapse.ts'
import { fileIdOf, type TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../platform/db/database.ts'
import { reconcileUploads } from './reconcile.ts'

const MiB = 1024 * 1024
const slowDown = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
const noSuchUpload = { kind: 'refuse', status: 404, code: 'NoSuchUpload' } as const
type Node = Awaited<ReturnType<typeof serveUploads>>

describe('the reconciler', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Node
  /** Another node, whose clock is a minute ahead. */
  let later: Node
  let client: TusClient
  // No lease may expire or be renewed during a test, even on a slow machine.
  const still = { leaseMs: 600_000, renewMs: 600_000 }
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime, { terms: still })
    later = await serveUploads(
      { ...site.runtime, clock: { now: () => site.clock.now() + 60_000 } },
      { terms: { ...still, reconcileMs: 500 } },
    )
    client = await site.client(node)
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await later?.close()
    await site?.close()
    await database?.close()
  })

  const fileOf = async (url: string) => {
    const look = sql`select status, failure_reason as reason from files where id = ${fileIdOf(url)}::uuid`
    return (await rows<{ status: string; reason: string | null }>(database.db, look))[0]!
  }
  const lapse = (url: string) =>
    database.db.execute(
      sql`update files set lease_until = now() - interval '1 second' where id = ${fileIdOf(url)}::uuid`,
    )
  const unknownLength = async (whole: Buffer) => {
    const url = await client.begin(null)
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    return url
  }
  const arrives = async (url: string, whole: Buffer, at: Site = site) => {
    await expect.poll(() => fileOf(url)).toMatchObject({ status: 'transferred' })
    expect((await at.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
  }

  describe.each([
    ['one part', MiB],
    ['several parts', 9 * MiB],
  ])('with a length declared after the bytes of %s', (_, bytes) => {
    const declare = (url: string) =>
      client.patch(url, bytes, Buffer.alloc(0), { 'Upload-Length': String(bytes) })

    it('creates an object that the bucket refused at first', async () => {
      const whole = randomBytes(bytes)
      const url = await unknownLength(whole)
      const effect = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
      for (const operation of ['PutObject', 'UploadPart'] as const)
        site.bucket.faults.add({ operation, key: `${fileIdOf(url)}/file`, effect })
      expect((await declare(url)).status).toBe(502)
      const head = await client.head(url)
      expect(head.headers['upload-offset']).toBe(head.headers['upload-length'])
      await reconcileUploads(node.context)
      await arrives(url, whole)
    })

    it('creates the object of a file whose process died', async () => {
      const whole = randomBytes(bytes)
      const url = await unknownLength(whole)
      await database.db.execute(sql`update files set length_bytes = offset_bytes, lease_fence = lease_fence + 1,
        lease_until = now() - interval '1 second', last_byte_at = last_byte_at - interval '2 days'
        where id = ${fileIdOf(url)}::uuid`)
      await reconcileUploads(node.context)
      await arrives(url, whole)
    })
  })

  it('creates other objects while one bucket hangs, and gives that bucket only its share', async () => {
    const hanging = await createSite(database)
    const impatient = await serveUploads(site.runtime, { terms: { ...still, assembleMs: 50 } })
    const upload = async (to: Site, whole: Buffer) => {
      to.bucket.faults.add({ operation: 'PutObject', times: 100, effect: slowDown })
      const theirs = await to.client(impatient)
      const url = await theirs.begin(whole.length, {}, whole)
      expect(await fileOf(url)).toMatchObject({ status: 'transferring' })
      to.bucket.faults.clear()
      return url
    }
    const stuck: string[] = []
    for (let n = 0; n < 6; n++) stuck.push(await upload(hanging, randomBytes(100)))
    const whole = randomBytes(1000)
    const url = await upload(site, whole)
    hanging.bucket.faults.add({ operation: 'PutObject', times: 100, effect: { kind: 'hold', gate: 'hang' } })
    expect(await reconcileUploads(later.context)).toBe(5)
    await arrives(url, whole)
    expect(await reconcileUploads(later.context)).toBe(0)
    hanging.bucket.faults.clear()
    await Promise.all(later.context.background)
    expect(await reconcileUploads(later.context)).toBe(2)
    await Promise.all(later.context.background)
    for (const url of stuck) expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
    await impatient.close()
    await hanging.close()
  })

  it('always sends a last part under the same number, so that a late request changes nothing', async () => {
    const whole = randomBytes(20 * MiB)
    const url = await client.begin(whole.length)
    const key = `${fileIdOf(url)}/file`
    site.bucket.faults.add({ operation: 'UploadPart', partNumber: 3, times: 100, effect: slowDown })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    expect(await fileOf(url)).toMatchObject({ status: 'transferring' })
    site.bucket.faults.clear()
    site.bucket.faults.add({ operation: 'UploadPart', at: 'body', effect: { kind: 'hold', gate: 'frozen' } })
    const sentBefore = site.bucket.traffic.seen({ operation: 'UploadPart', key }).length
    const frozen = reconcileUploads(later.context)
    await site.bucket.traffic.until({ operation: 'UploadPart', key }, sentBefore + 1)
    await lapse(url)
    const after = await serveUploads({
      ...site.runtime,
      clock: { now: () => site.clock.now() + 120_000 },
    })
    await reconcileUploads(after.context)
    await arrives(url, whole)
    site.bucket.faults.release('frozen')
    await frozen
    await Promise.all(later.context.background)
    const sent = site.bucket.traffic.seen({ operation: 'UploadPart', key }).slice(sentBefore)
    expect(sent.map(({ partNumber }) => partNumber)).toEqual([3, 3])
    await arrives(url, whole)
    await after.close()
  })

  it('sends nothing if preparing takes longer than a lease', { tags: 'long' }, async () => {
    const whole = randomBytes(MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'PutObject', times: 100, effect: slowDown })
    expect((await client.patch(url, 0, whole)).status).toBe(204)
    site.bucket.faults.clear()
    const puts = { operation: 'PutObject', key: `${fileIdOf(url)}/file` } as const
    const before = site.bucket.traffic.seen(puts).length
    const ahead = { now: () => site.clock.now() + 60_000 }
    const slow = await serveUploads({ ...site.runtime, clock: ahead }, { terms: still })
    let reconciling: Promise<number> | undefined
    await database.db.transaction(async (tx) => {
      await tx.execute(sql`lock table data_stores in access exclusive mode`)
      reconciling = reconcileUploads(slow.context)
      await blocked(database)
      elapse(still.leaseMs)
    })
    expect(await reconciling).toBe(1)
    expect(site.bucket.traffic.seen(puts)).toHaveLength(before)
    await slow.close()
    expect(await reconcileUploads(later.context)).toBe(0)
    site.clock.advance(60_000)
    await reconcileUploads(later.context)
    await arrives(url, whole)
  })

  it('is not overruled by a writer that has lost its lease, whose results cannot fail the file', async () => {
    const whole = randomBytes(9 * MiB)
    const url = await client.begin(whole.length)
    const key = `${fileIdOf(url)}/file`
    const complete = { operation: 'CompleteMultipartUpload', key } as const
    site.bucket.faults.add({ ...complete, call: 1, effect: { kind: 'hold', gate: 'stale' } })
    site.bucket.faults.add({ ...complete, call: 1, effect: noSuchUpload })
    site.bucket.faults.add({ ...complete, call: 2, effect: { kind: 'hold', gate: 'holder' } })
    const answered = client.patch(url, 0, whole)
    await site.bucket.traffic.until(complete, 1)
    await lapse(url)
    const taken = reconcileUploads(later.context)
    await site.bucket.traffic.until(complete, 2)
    site.bucket.faults.release('stale')
    await answered
    await Promise.all(node.context.background)
    expect(await fileOf(url)).toEqual({ status: 'transferring', reason: null })
    site.bucket.faults.release('holder')
    await taken
    await arrives(url, whole)
  })
})
