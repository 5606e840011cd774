import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { describeWithDatabase } from '../../../test/support/databases.ts'
import type { TusClient } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../../test/support/upload-site.ts'
import { rows } from '../../platform/db/database.ts'
import { minutes } from '../../platform/kernel/clock.ts'
import { clearLeftovers } from '../../recovery/clear-leftovers.ts'

const MiB = 1024 * 1024
const DENIED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const

describeWithDatabase('a creation refused after its object was sent', (database) => {
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let client: TusClient
  let isDatabaseAway = false
  beforeAll(async () => {
    site = await createSite(database(), { bucket: { actions: ['s3:PutObject', 's3:DeleteObject'] } })
    node = await serveUploads(site.runtime, {
      checkpoint(name) {
        if (name === 'object put' && isDatabaseAway) throw new Error('the database is away')
      },
    })
    client = await site.client(node, { maxFiles: 1 })
  })
  afterEach(() => {
    isDatabaseAway = false
    site.bucket.faults.clear()
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
  })

  const body = randomBytes(1000)
  const lastFile = async () => {
    const [file] = await rows<{
      status: string
      erased: boolean
      created: number
      events: number
      key: string
    }>(
      database().db,
      sql`select f.status, f.erased_at is not null as erased, t.files_created as created, d.key,
          (select count(*)::int from events e where e.file_id = f.id) as events
        from files f join file_destinations d on d.file_id = f.id join tokens t on t.id = f.token_id
        order by f.id desc limit 1`,
    )
    return file!
  }

  const offsetOfLast = async () => {
    const [file] = await rows<{ offset: number }>(
      database().db,
      sql`select offset_bytes::float8 as offset from files order by id desc limit 1`,
    )
    return file!.offset
  }

  it('keeps its record while the object may exist', async () => {
    isDatabaseAway = true
    expect((await client.create(body.length, {}, body)).status).toBe(500)
    const { key, ...file } = await lastFile()
    expect(await site.bucket.objects()).toEqual([key])
    expect(file).toEqual({ status: 'canceled', erased: false, created: 0, events: 1 })
  })

  it('has its object deleted if the credentials allow deleting', async () => {
    site.clock.advance(minutes(2))
    await database().db.execute(sql`update data_stores set may_delete = true`)
    await clearLeftovers(node.context)
    expect(await site.bucket.objects()).toEqual([])
  })

  it('keeps its record if some of its bytes were counted', async () => {
    const whole = randomBytes(17 * MiB)
    const second = { operation: 'UploadPart', partNumber: 2, times: 9 } as const
    site.bucket.faults.add({ ...second, effect: { kind: 'hold', gate: 'first is counted' } })
    site.bucket.faults.add({ ...second, at: 'body', effect: DENIED })
    const refused = client.create(whole.length, {}, whole)
    await expect.poll(offsetOfLast).toBe(8 * MiB)
    site.bucket.faults.release('first is counted')
    expect((await refused).status).toBe(502)
    expect(await lastFile()).toMatchObject({ status: 'canceled', erased: false, created: 0, events: 1 })
  })

  it('leaves no record if the bucket rejected the object', async () => {
    site.bucket.faults.add({ operation: 'PutObject', effect: DENIED })
    expect((await client.create(body.length, {}, body)).status).toBe(502)
    expect(await lastFile()).toMatchObject({ status: 'canceled', erased: true, created: 0, events: 0 })
  })
})
