import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { reconcileUploads } from '../../recovery/reconcile.ts'

const MiB = 1024 * 1024
const REJECTED = { kind: 'refuse', status: 400, code: 'EntityTooLarge' } as const
const DENIED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
const AWAY = { kind: 'refuse', status: 503, code: 'ServiceUnavailable' } as const
const DROPPED = { kind: 'refuse', status: 404, code: 'NoSuchUpload' } as const
const DAMAGED = { kind: 'refuse', status: 400, code: 'BadDigest' } as const

describe('the consequences of a fault', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database)
    node = await serveUploads(site.runtime, { terms: { assembleMs: 300 } })
    client = await site.client(node)
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const fileOf = async (url: string) => {
    await Promise.all(node.context.background)
    const [file] = await rows<{ status: string; reason: string | null; leased: boolean; events: number }>(
      database.db,
      sql`select status, failure_reason as reason, lease_until is not null as leased,
        (select count(*)::int from events e where e.file_id = f.id) as events
        from files f where id = ${fileIdOf(url)}::uuid`,
    )
    return file!
  }
  const failed = { status: 'failed', leased: false, events: 1 }
  /** All its bytes are durable, but the bucket does not accept them yet. */
  const leftInTail = async (bytes: number) => {
    const url = await client.begin(bytes)
    const operation = bytes > 8 * MiB ? 'UploadPart' : 'PutObject'
    const whole = randomBytes(bytes)
    if (bytes > 8 * MiB) expect((await client.patch(url, 0, whole.subarray(0, 8 * MiB))).status).toBe(204)
    site.bucket.faults.add({ operation, times: 100, effect: AWAY })
    const from = bytes > 8 * MiB ? 8 * MiB : 0
    expect((await client.patch(url, from, whole.subarray(from))).status).toBe(204)
    site.bucket.faults.clear()
    expect(await fileOf(url)).toMatchObject({ status: 'transferring', leased: false, events: 0 })
    site.clock.advance(60_000)
    return { url, whole }
  }

  it('fails the file immediately, with the reason, if PutObject is permanently rejected', async () => {
    const url = await client.begin(MiB)
    site.bucket.faults.add({ operation: 'PutObject', effect: REJECTED })
    const reply = await client.patch(url, 0, randomBytes(MiB))
    expect(reply.status).toBe(502)
    expect(reply.body).toContain('EntityTooLarge')
    expect(await fileOf(url)).toMatchObject(failed)
    expect((await fileOf(url)).reason).toContain('EntityTooLarge')
    expect((await client.head(url)).status).toBe(410)
  })

  it('leaves the upload to its client if a part is rejected', async () => {
    const whole = randomBytes(17 * MiB)
    const url = await client.begin(whole.length)
    site.bucket.faults.add({ operation: 'UploadPart', effect: REJECTED })
    expect((await client.patch(url, 0, whole)).status).toBe(502)
    expect(await fileOf(url)).toMatchObject({ status: 'uploading', leased: false, events: 0 })
    const at = await client.offset(url)
    expect((await client.patch(url, at, whole.subarray(at))).status).toBe(204)
    expect(await fileOf(url)).toMatchObject({ status: 'transferred', leased: false, events: 1 })
  })

  it.each([
    ['a Complete', 'CompleteMultipartUpload', 9 * MiB, REJECTED],
    ['a Complete whose bytes differ from those sent', 'CompleteMultipartUpload', 9 * MiB, DAMAGED],
  ] as const)(
    '%s that is permanently rejected fails the file immediately, and the client gets the error',
    async (_, operation, bytes, effect) => {
      const url = await client.begin(bytes)
      site.bucket.faults.add({ operation, effect })
      const reply = await client.patch(url, 0, randomBytes(bytes))
      expect(reply.status).toBe(502)
      expect(reply.body).toContain(effect.code)
      expect(await fileOf(url)).toMatchObject(failed)
      expect((await fileOf(url)).reason).toContain(effect.code)
      expect((await client.head(url)).status).toBe(410)
    },
  )

  it.each([
    ['PutObject', MiB],
    ['UploadPart', 9 * MiB],
  ] as const)(
    'a %s from the reconciler that is permanently rejected fails the file immediately',
    async (operation, bytes) => {
      const { url } = await leftInTail(bytes)
      site.bucket.faults.add({ operation, effect: REJECTED })
      await reconcileUploads(node.context)
      expect(await fileOf(url)).toMatchObject(failed)
    },
  )

  it.each([
    ['PutObject', MiB, DENIED],
    ['PutObject', MiB, DAMAGED],
    ['UploadPart', 9 * MiB, DENIED],
    ['UploadPart', 9 * MiB, DAMAGED],
    ['CompleteMultipartUpload', 9 * MiB, DENIED],
  ] as const)(
    'the reconciler retries after a %s (%d bytes) with %j',
    { tags: 'long' },
    async (operation, bytes, effect) => {
      const { url, whole } = await leftInTail(bytes)
      site.bucket.faults.add({ operation, effect })
      await reconcileUploads(node.context)
      expect(await fileOf(url)).toMatchObject({ status: 'transferring', leased: false, events: 0 })
      site.clock.advance(60_000)
      await reconcileUploads(node.context)
      expect(await fileOf(url)).toMatchObject({ status: 'transferred', leased: false, events: 1 })
      expect((await site.bucket.object(`${fileIdOf(url)}/file`)).equals(whole)).toBe(true)
    },
  )

  it('does not mistake a refused Complete for a successful one when the parts are dropped', async () => {
    const url = await client.begin(9 * MiB)
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', effect: DENIED })
    expect((await client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    expect(await fileOf(url)).toMatchObject({ status: 'transferring', leased: false })
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 100, effect: DROPPED })
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    expect(await fileOf(url)).toMatchObject(failed)
  })

  it('does not assume a successful Complete while the last part is refused', { tags: 'long' }, async () => {
    const { url } = await leftInTail(9 * MiB)
    site.bucket.faults.add({ operation: 'UploadPart', effect: DENIED })
    await reconcileUploads(node.context)
    expect(await fileOf(url)).toMatchObject({ status: 'transferring', leased: false })
    site.bucket.faults.add({ operation: 'CompleteMultipartUpload', times: 100, effect: DROPPED })
    site.clock.advance(60_000)
    await reconcileUploads(node.context)
    expect(await fileOf(url)).toMatchObject(failed)
  })

  it('takes into account that an earlier Complete may have succeeded, even after later refusals', async () => {
    const url = await client.begin(9 * MiB)
    const operation = 'CompleteMultipartUpload'
    site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
    site.bucket.faults.add({ operation, call: 2, times: 2, effect: DENIED })
    expect((await client.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
    expect(await fileOf(url)).toMatchObject({ status: 'transferring', leased: false })
    for (const status of ['transferring', 'transferred']) {
      site.clock.advance(60_000)
      await reconcileUploads(node.context)
      expect(await fileOf(url)).toMatchObject({ status, leased: false })
    }
  })

  it('fails a complete file, with the reason, if the bucket has dropped its parts', async () => {
    const { url } = await leftInTail(9 * MiB)
    site.bucket.faults.add({
      operation: 'UploadPart',
      times: 100,
      effect: DROPPED,
    })
    await reconcileUploads(node.context)
    expect(await fileOf(url)).toMatchObject(failed)
  })

  it.each([
    [23, 'transferred'],
    [25, 'failed'],
  ])(
    'if the parts vanish %d hours after an unanswered Complete, the file becomes %s',
    async (ageHours, status) => {
      const later = await site.client(node)
      const url = await later.begin(9 * MiB)
      const operation = 'CompleteMultipartUpload'
      site.bucket.faults.add({ operation, times: 100, effect: AWAY })
      expect((await later.patch(url, 0, randomBytes(9 * MiB))).status).toBe(204)
      expect(await fileOf(url)).toMatchObject({ status: 'transferring', leased: false })
      site.bucket.faults.clear()
      site.bucket.faults.add({ operation, times: 100, effect: DROPPED })
      site.clock.advance(ageHours * 3_600_000)
      await reconcileUploads(node.context)
      const file = await fileOf(url)
      expect(file).toMatchObject({ status, leased: false, events: 1 })
      if (status === 'failed') expect(file.reason).toContain(`look for the object ${fileIdOf(url)}/file`)
    },
  )
})
