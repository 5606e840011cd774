import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { fileIdOf } from '../../test/support/tus-client.ts'
import { tusSite } from '../../test/support/tus-site.ts'
import { rows } from '../platform/db/database.ts'
import { hours, minutes } from '../platform/kernel/clock.ts'
import { fail } from '../uploads/finish/settle.ts'
import { openUpload } from '../uploads/opening/open-upload.ts'
import { reconcileUploads } from './reconcile.ts'

const MiB = 1024 * 1024
const SLOW_DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describe('an abandoned file', () => {
  const { at } = tusSite({ bucket: { actions: ['s3:PutObject', 's3:GetObject'] } })
  beforeAll(() => at.database.db.execute(sql`update data_stores set may_read = true`))
  afterEach(() => at.site.bucket.faults.clear())
  const operation = 'CompleteMultipartUpload'
  const fileOf = async (url: string) =>
    (
      await rows<{ status: string; reason: string | null }>(
        at.database.db,
        sql`select status, failure_reason as reason from files where id = ${fileIdOf(url)}::uuid`,
      )
    )[0]!
  const send = async (bytes: number) => {
    const url = await at.client.begin(bytes)
    expect((await at.client.patch(url, 0, randomBytes(bytes))).status).toBe(204)
    await Promise.all(at.node.context.background)
    return url
  }
  const after = async (waitMs: number, context = at.node.context) => {
    at.site.clock.advance(waitMs)
    await reconcileUploads(context)
    await Promise.all(context.background)
  }

  it('tries again if the ledger could not record the object it found', { tags: 'long' }, async () => {
    at.site.bucket.faults.add({ operation, at: 'answer', effect: { kind: 'cut' } })
    at.site.bucket.faults.add({ operation, call: 2, times: 100, effect: SLOW_DOWN })
    const url = await send(9 * MiB)
    await after(hours(25))
    const away = () => Promise.reject(new Error('the database is away'))
    await after(minutes(10), { ...at.node.context, emitEvents: away })
    expect(await fileOf(url)).toMatchObject({ status: 'transferring' })
    await after(hours(1))
    expect(await fileOf(url)).toMatchObject({ status: 'transferred' })
  })

  it('leaves the object that the customer is told to look for', async () => {
    const url = await at.client.begin(1000)
    const place = { pipeId: at.site.pipe.id, fileId: fileIdOf(url) }
    const right = await at.node.context.rights.toContinue(at.client.token, place)
    const upload = await openUpload(at.node.context, right, { bytes: 1000 })
    await fail(at.node.context, upload!, { reason: 'Nobody knows.', certainty: 'unknown' })
    const toClear = sql`select abort_pending as pending from file_destinations where file_id = ${place.fileId}::uuid`
    expect(await rows(at.database.db, toClear)).toEqual([{ pending: false }])
  })
})
