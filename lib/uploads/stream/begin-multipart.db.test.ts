import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { blocked, openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { recordMultipart } from '../ledger/part-rows.ts'

const MiB = 1024 * 1024
let database: DatabaseHandle
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>

beforeAll(async () => {
  database = await openTestDatabase()
  site = await createSite(database, { bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] } })
  node = await serveUploads(site.runtime)
})
afterAll(async () => {
  await node?.close()
  await site?.close()
  await database?.close()
})

it.each([
  ['another writer has taken the upload', 'lease_fence = lease_fence + 1, lease_until = null'],
  ['the upload was ended', "status = 'canceled', lease_until = null"],
])('aborts a multipart upload that was started while %s', async (_, change) => {
  const client = await site.client(node)
  const url = await client.begin(20 * MiB)
  site.bucket.faults.add({
    operation: 'CreateMultipartUpload',
    at: 'answer',
    effect: { kind: 'hold', gate: 'begun' },
  })
  const patching = client.patch(url, 0, randomBytes(20 * MiB)).catch(() => undefined)
  await expect.poll(() => site.bucket.unfinished()).toHaveLength(1)
  await database.db.execute(sql`update files set ${sql.raw(change)} where id = ${fileIdOf(url)}::uuid`)
  site.bucket.faults.clear()
  await patching
  await Promise.all(node.context.background)
  expect(await site.bucket.unfinished()).toEqual([])
})

it('records no multipart upload for a writer whose lease is being taken over', async () => {
  const client = await site.client(node)
  const fileId = fileIdOf(await client.begin(20 * MiB))
  const { lease } = (await node.context.leases.take({ rowId: fileId, tokenId: null, plan: undefined }))!
  let recorded: Promise<string> | undefined
  await database.db.transaction(async (tx) => {
    await tx.execute(sql`update files set lease_holder = 'the next one' where id = ${fileId}::uuid`)
    recorded = recordMultipart(database.db, lease, {
      dataStoreId: site.dataStore.id,
      multipartId: 'stale',
      storage: null,
    }).then(
      () => 'recorded',
      (error) => error.code,
    )
    await Promise.race([blocked(database), recorded])
  })
  expect(await recorded).toBe('upload_locked')
  lease.forget()
})
