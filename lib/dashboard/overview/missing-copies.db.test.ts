import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDatabase } from '../../../test/support/databases.ts'
import { fileIdOf } from '../../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from '../../../test/support/upload-site.ts'
import type { DatabaseHandle } from '../../platform/db/database.ts'
import { hours, minutes } from '../../platform/kernel/clock.ts'
import { parseInput } from '../../platform/kernel/parse-input.ts'
import { openMailJob } from '../../platform/mail/mail.ts'
import { repairDestinations } from '../../repairs/repair-destinations.ts'
import { listOpenAlerts, saveAlertSettings } from '../../workspace/notices/alerts.ts'
import { sweepAlerts } from '../../workspace/notices/sweep-alerts.ts'
import { eraseFile } from '../files/act-on-files.ts'
import { fileQuery } from '../files/file-query.ts'
import { countFiles, listFiles } from '../files/list-files.ts'
import { readMissingCopies } from './read-missing-copies.ts'

const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
const DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const

describe('copies missing at a destination', () => {
  let database: DatabaseHandle
  let site: Site
  let node: Awaited<ReturnType<typeof serveUploads>>
  let target: TestBucket
  let storeId: string
  beforeAll(async () => {
    database = await openTestDatabase()
    site = await createSite(database, {
      bucket: { actions: ['s3:PutObject', 's3:GetObject'] },
      copies: [{ required: false }, { required: false }],
    })
    storeId = site.copies[0]!.dataStore.id
    target = site.copies[0]!.bucket
    await database.db.execute(
      sql`update data_stores set may_read = true where id = ${site.dataStore.id}::uuid`,
    )
    await database.db.execute(sql`update data_stores set name = 'Copies' where id = ${storeId}::uuid`)
    node = await serveUploads(site.runtime, { terms: { trailMs: 1500, pollMs: 20 } })
  })
  afterAll(async () => {
    await node?.close()
    await site?.close()
    await database?.close()
  })

  const settled = async () => {
    while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
  }
  /** Uploads a file that the destination rejects. Returns its id. */
  async function lacking(effect: typeof REFUSED | typeof DOWN): Promise<string> {
    target.faults.add({ operation: 'any', times: 100, effect })
    const client = await site.client(node)
    const url = await client.begin(10)
    expect((await client.patch(url, 0, Buffer.alloc(10))).status).toBe(204)
    await settled()
    target.faults.clear()
    return fileIdOf(url)
  }
  const repairAll = async () => {
    while ((await repairDestinations(node.context)) > 0) await settled()
  }
  const mails = async () => {
    site.runtime.jobs.length = 0
    await sweepAlerts(site.runtime)
    return site.runtime.jobs.splice(0).flatMap(({ data }) => {
      const job = openMailJob(site.runtime, data as { sealed: string })
      return job.kind === 'mail' ? [job.mail] : []
    })
  }
  const missing = () => readMissingCopies(site.runtime, site.actor)
  const listedAt = async (dataStoreId: string) => {
    const query = parseInput(fileQuery, { missingAt: dataStoreId })
    const { data } = await listFiles(site.runtime, site.actor, query)
    expect((await countFiles(site.runtime, site.actor, query)).files).toBe(data.length)
    return data.map(({ id }) => id)
  }

  it('are counted by destination and reason, listed, and reported by email after an hour', {
    tags: 'long',
  }, async () => {
    const whole = await lacking(REFUSED).then(async (id) => {
      site.clock.advance(minutes(2))
      await repairAll()
      return id
    })
    expect(await missing()).toEqual([])
    expect(await listedAt(storeId)).toEqual([])

    const refused = [await lacking(REFUSED), await lacking(REFUSED)]
    const unavailable = await lacking(DOWN)
    const [found, ...others] = await missing()
    expect(others).toEqual([])
    expect(found).toMatchObject({ dataStoreId: storeId, name: 'Copies', files: 3, isMore: false })
    expect(found!.reasons).toMatchObject([
      { reason: 'rejected', files: 2, givenUp: 0, detail: expect.stringContaining('AccessDenied') },
      { reason: 'unavailable', files: 1, givenUp: 0 },
    ])
    const ids = [unavailable, ...refused.toReversed()]
    expect(await listedAt(storeId)).toEqual(ids)
    expect(await listedAt(site.copies[1]!.dataStore.id)).toEqual([])
    expect(ids).not.toContain(whole)

    expect(await mails()).toEqual([])
    site.clock.advance(hours(1) + minutes(1))
    const [mail, ...more] = await mails()
    expect(more).toEqual([])
    expect(mail).toMatchObject({ subject: 'Copies are missing from the Data Store “Copies”' })
    expect(mail!.text).toContain('AccessDenied')
    expect(mail!.text).toContain(`/dashboard/files?missingAt=${storeId}`)
    expect(await mails()).toEqual([])
    expect(await listOpenAlerts(site.runtime, site.actor)).toMatchObject([
      { kind: 'copies_missing', subjectId: storeId },
    ])

    // One copy is abandoned, and the record of another file is erased by its customer.
    await database.db.execute(sql`update file_destinations set repair_at = null, repair_attempts = 11
      where file_id = ${unavailable}::uuid and data_store_id = ${storeId}::uuid`)
    await eraseFile(site.runtime, site.actor, refused[0]!)
    await repairAll()
    expect(await missing()).toMatchObject([
      { files: 1, reasons: [{ reason: 'unavailable', files: 1, givenUp: 1 }] },
    ])
    expect(await mails()).toEqual([])
    await database.db.execute(sql`update file_destinations set repair_at = now() where repair_attempts = 11`)
    await repairAll()
    expect(await missing()).toEqual([])
    expect(await mails()).toMatchObject([
      { subject: 'All clear: The Data Store “Copies” is no longer missing copies' },
    ])
  })

  it('are not emailed if the workspace has muted these emails', async () => {
    await saveAlertSettings(site.runtime, site.actor, ['notice:copies_missing'])
    await lacking(REFUSED)
    site.clock.advance(hours(2))
    expect(await mails()).toEqual([])
    expect(await listOpenAlerts(site.runtime, site.actor)).toMatchObject([{ kind: 'copies_missing' }])
  })
})
