import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { blocked, holdTransaction, openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf, type TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { type DatabaseHandle, rows } from '../../platform/db/database.ts'
import { days, minutes } from '../../platform/kernel/clock.ts'
import { clearLeftovers } from '../../recovery/clear-leftovers.ts'
import { expireUploads } from '../../recovery/upload-sweeps.ts'
import { settleFound } from '../finish/settle.ts'
import type { Lease } from '../lease/held-lease.ts'
import { advance } from '../ledger/offsets.ts'
import { cancelUpload } from './end-upload.ts'

const MiB = 1024 * 1024
describe('an upload that ends without an object', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  beforeAll(async () => {
    database = await openTestDatabase()
    const actions = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'] as const
    site = await createSite(database, { bucket: { actions: [...actions] } })
    await database.db.execute(
      sql`update data_stores set may_abort = true, may_delete = true, updated_at = now()`,
    )
    node = await serveUploads(site.runtime)
    await renew()
  })
  afterEach(() => site.bucket.faults.clear())
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })
  const renew = async () => {
    client = await site.client(node)
  }
  const begun = async (bytes: number) => {
    const url = await client.begin(bytes)
    expect((await client.patch(url, 0, randomBytes(bytes - 1))).status).toBe(204)
    return url
  }
  const cancel = (url: string) =>
    cancelUpload(node.context, { fileId: fileIdOf(url), workspaceId: site.workspaceId })

  it('does not expire if a byte arrives while its expiry is being decided', async () => {
    const url = await begun(100)
    site.clock.advance(days(7) + 1)
    const { promise: written, resolve: hasWritten } = Promise.withResolvers<void>()
    const { promise: later, resolve: commit } = Promise.withResolvers<void>()
    const writing = database.db.transaction(async (tx) => {
      await tx.execute(
        sql`update files set expires_at = expires_at + interval '7 days' where id = ${fileIdOf(url)}::uuid`,
      )
      hasWritten()
      await later
    })
    await written
    const expiring = expireUploads(node.context)
    await blocked(database)
    commit()
    await writing
    expect(await expiring).toBe(0)
    expect(await site.statusOf(url)).toBe('uploading')
    await renew()
  })

  it('leaves no object that was in flight, if the credentials allow deleting', async () => {
    const whole = randomBytes(1000)
    const url = await client.begin(whole.length)
    const key = `${fileIdOf(url)}/file`
    site.bucket.faults.add({
      operation: 'PutObject',
      at: 'answer',
      effect: { kind: 'hold', gate: 'late' },
    })
    const patch = client.patch(url, 0, whole)
    await site.bucket.traffic.until({ operation: 'PutObject', key })
    await expect.poll(() => site.bucket.objects()).toContain(key)
    expect((await client.terminate(url)).status).toBe(204)
    site.bucket.faults.release('late')
    expect((await patch).status).toBe(410)
    expect(await clearLeftovers(node.context)).toBe(0)
    site.clock.advance(minutes(1))
    expect(await clearLeftovers(node.context)).toBe(1)
    expect(await site.bucket.objects()).not.toContain(key)
  })

  it.each([
    [503, 'SlowDown'],
    [403, 'AccessDenied'],
  ])('is cleared later if the bucket responds with %i although the keys can abort', async (status, code) => {
    const url = await begun(9 * MiB)
    await cancel(url)
    const effect = { kind: 'refuse', status, code } as const
    site.bucket.faults.add({ operation: 'AbortMultipartUpload', times: 100, effect })
    expect(await clearLeftovers(node.context)).toBe(1)
    expect(await clearLeftovers(node.context)).toBe(0)
    // The first attempts follow quickly, and later ones at growing intervals.
    site.clock.advance(minutes(1) + 1000)
    expect(await clearLeftovers(node.context)).toBe(1)
    site.clock.advance(minutes(60))
    expect(await clearLeftovers(node.context)).toBe(1)
    site.bucket.faults.clear()
    site.clock.advance(minutes(14))
    expect(await clearLeftovers(node.context)).toBe(0)
    site.clock.advance(minutes(2))
    expect(await site.bucket.unfinished()).toHaveLength(1)
    expect(await clearLeftovers(node.context)).toBe(1)
    expect(await site.bucket.unfinished()).toEqual([])
    await renew()
  })

  it('is cleared even if other uploads cannot be cleared, because each bucket has its share of the attempts', {
    tags: 'long',
  }, async () => {
    const gone = await createSite(database)
    gone.clock.advance(site.clock.now() - gone.clock.now())
    const theirs = await gone.client(node)
    for (let n = 0; n < 7; n++) {
      const url = await theirs.begin(9 * MiB)
      expect((await theirs.patch(url, 0, randomBytes(8 * MiB))).status).toBe(204)
      expect((await theirs.terminate(url)).status).toBe(204)
    }
    const url = await begun(9 * MiB)
    await cancel(url)
    await database.db.execute(sql`update data_stores set secret_access_key_encrypted = '', updated_at = now()
      where id = ${gone.dataStore.id}::uuid`)
    expect(await clearLeftovers(node.context)).toBe(7)
    expect(await site.bucket.unfinished()).toEqual([])
    expect(await clearLeftovers(node.context)).toBe(1)
    await gone.close()
  })

  it.each<[string, (lease: Lease) => Promise<unknown>]>([
    [
      'is canceled',
      ({ rowId: fileId }) => cancelUpload(node.context, { fileId, workspaceId: site.workspaceId }),
    ],
    [
      'turns out to be in the bucket',
      (lease) => {
        const found = { dataStoreId: site.dataStore.id, etag: null, isThere: true }
        const file = { fileId: lease.rowId, lease }
        return settleFound(node.context, file, { lengthBytes: 20 * MiB, destinations: [found] })
      },
    ],
  ])('keeps no bytes that its writer commits at the moment when it %s', async (_, end) => {
    const fileId = fileIdOf(await client.begin(9 * MiB))
    const taken = await node.context.leases.take({ rowId: fileId, tokenId: null, plan: undefined })
    const { lease } = taken!
    const part = { number: 1, offsetBytes: 0, sizeBytes: 8 * MiB, etags: ['"etag"'], crc32: 0 }
    const tail = node.context.tailCipher.sealer(fileId)(8 * MiB, randomBytes(1))
    const commit = await holdTransaction(database, async (tx) => {
      const recorded = { fromBytes: 0, toBytes: 8 * MiB, crc32: 0, part }
      await advance(tx, lease, recorded, site.clock.now())
      await advance(tx, lease, { fromBytes: 8 * MiB, toBytes: 8 * MiB + 1, crc32: 0, tail }, site.clock.now())
    })
    const ending = end(lease)
    await blocked(database)
    await commit()
    await ending
    lease.forget()
    const left = sql`select 1 from file_parts where file_id = ${fileId}::uuid
      union all select 1 from upload_tails where file_id = ${fileId}::uuid`
    expect(await rows(database.db, left)).toEqual([])
  })
})
