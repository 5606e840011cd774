import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { openTestDatabase } from './databases.ts'
import { fileIdOf, type TusClient } from './tus-client.ts'
import { createSite, type Site, serveUploads, type TestBucket } from './upload-site.ts'

const ACTIONS = ['s3:PutObject', 's3:AbortMultipartUpload', 's3:DeleteObject'] as const

/** What tests of several destinations share. The third bucket is the best-effort destination. */
export type Several = {
  database: DatabaseHandle
  site: Site
  node: Awaited<ReturnType<typeof serveUploads>>
  client: TusClient
  buckets: TestBucket[]
}

/** Describes uploads to two required destinations and one best-effort destination. */
export function describeSeveral(tests: (given: Several) => void): void {
  describe('a file with two required destinations and one best-effort destination', () => {
    const given = {} as Several
    beforeAll(async () => {
      const database = await openTestDatabase()
      const copy = (required: boolean) => ({ required, bucket: { actions: [...ACTIONS] } })
      const site = await createSite(database, {
        bucket: copy(true).bucket,
        copies: [copy(true), copy(false)],
      })
      await database.db.execute(sql`update data_stores set may_delete = true, may_abort = true, updated_at = now()
        where workspace_id = ${site.workspaceId}::uuid`)
      const node = await serveUploads(site.runtime, {
        terms: { trailMs: 3000, pollMs: 20, assembleMs: 4000 },
      })
      const buckets = [site.bucket, ...site.copies.map((one) => one.bucket)]
      Object.assign(given, { database, site, node, buckets })
    })
    afterAll(async () => {
      await given.node?.close()
      await given.site?.close()
      await given.database?.close()
    })
    beforeEach(async () => {
      given.client = await given.site.client(given.node)
      for (const { faults } of given.buckets) faults.clear()
    })
    tests(given)
  })
}

export async function settled({ node }: Several): Promise<void> {
  while (node.context.background.size > 0) await Promise.allSettled([...node.context.background])
}

/** The state of a file and its destinations, once nothing happens any more. */
export async function statesOf(given: Several, url: string) {
  await settled(given)
  const [file] = await rows<{ status: string; events: string[]; states: string[] }>(
    given.database.db,
    sql`select status, coalesce((select json_agg(e.missed_status order by e.id) from events e where e.file_id = f.id), '[]') as events,
      (select json_agg(concat_ws(' ', d.status, d.reason) order by d.position) from file_destinations d
        where d.file_id = f.id) as states
      from files f where f.id = ${fileIdOf(url)}::uuid`,
  )
  return file!
}

export async function expectEverywhere(given: Several, url: string, whole: Buffer, at = given.buckets) {
  for (const bucket of at) {
    const key = (await bucket.objects()).find((one) => one.startsWith(fileIdOf(url)))!
    expect((await bucket.object(key)).equals(whole)).toBe(true)
  }
  expect(await Promise.all(at.map((bucket) => bucket.unfinished()))).toEqual(at.map(() => []))
}

export async function partsOf({ database }: Several, url: string): Promise<number> {
  return (await rows(database.db, sql`select 1 from file_parts where file_id = ${fileIdOf(url)}::uuid`))
    .length
}

export const EVERYWHERE = {
  status: 'transferred',
  events: ['transferred'],
  states: Array(3).fill('transferred'),
}
export const partly = (reason: string) => ({
  status: 'partially_transferred',
  events: ['partially_transferred'],
  states: ['transferred', 'transferred', `failed ${reason}`],
})

export const REFUSED = { kind: 'refuse', status: 403, code: 'AccessDenied' } as const
export const DOWN = { kind: 'refuse', status: 503, code: 'SlowDown' } as const
