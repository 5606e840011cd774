/** @module-tag long */
import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DatabaseHandle, rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../../test/support/postgres.ts'
import type { TusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site, serveUploads } from '../../test/support/upload-site.ts'

const KiB = 1024
const CHUNK_BYTES = 64 * KiB
const FILE_BYTES = 6 * 1024 * KiB

let server: PostgresServer
let handle: DatabaseHandle
let site: Site
let node: Awaited<ReturnType<typeof serveUploads>>
let client: TusClient

beforeAll(async () => {
  server = await startPostgres()
  const { url } = await createDatabase(server.url)
  handle = openPostgres({ address: url })
  await migrate(handle.db)
  site = await createSite({ ...handle, kind: 'postgres' })
  node = await serveUploads(site.runtime)
  client = await site.client(node)
})
afterAll(async () => {
  await node?.close()
  await site?.close()
  await handle?.close()
  await server?.stop()
})

it('bytes waiting in the database take at most 1.5 times their size in its write-ahead log', async ({
  skip,
}) => {
  if (process.env.DATABASE_URL) return skip("A shared server's log also includes what other clients write.")
  const whole = randomBytes(FILE_BYTES)
  const at = await client.begin(whole.length)
  const writtenBytes = async () => {
    const [found] = await rows<{ bytes: string }>(
      handle.db,
      sql`select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') as bytes`,
    )
    return Number(found!.bytes)
  }
  const before = await writtenBytes()
  for (let from = 0; from < FILE_BYTES; from += CHUNK_BYTES) {
    const sent = await client.patch(at, from, whole.subarray(from, from + CHUNK_BYTES))
    expect(sent.status).toBe(204)
  }
  expect(((await writtenBytes()) - before) / FILE_BYTES).toBeLessThan(1.5)
})

it('no database file, including the write-ahead log, shows the bytes waiting in the database', async ({
  skip,
}) => {
  if (process.env.DATABASE_URL) return skip('Cannot read the files of a shared server.')
  // The pattern is surrounded by random bytes, so that PostgreSQL does not compress it, and repeated, since PostgreSQL
  // stores large values in pieces of 2 kB.
  const pattern = Buffer.from(`bytes of a customer ${randomBytes(8).toString('hex')}`)
  const whole = Buffer.concat(Array.from({ length: 512 }, (_, n) => (n % 2 ? pattern : randomBytes(300))))
  const half = whole.length >> 1
  const filename = `name-${randomBytes(8).toString('hex')}`
  const metadata = `filename ${Buffer.from(filename).toString('base64')}`
  const created = await client.create(whole.length, { 'Upload-Metadata': metadata })
  const at = created.headers.location!
  expect((await client.patch(at, 0, whole.subarray(0, half))).status).toBe(204)
  await handle.db.execute(sql`checkpoint`)
  const found = await filesWith(pattern)
  expect(found).toEqual([])
  // Unencrypted data is visible, both in the log and in the table.
  expect((await filesWith(Buffer.from(filename))).map((name) => name.split('/')[0]).sort()).toEqual(
    expect.arrayContaining(['base', 'pg_wal']),
  )
  expect((await client.patch(at, half, whole.subarray(half))).status).toBe(204)
  const [key] = (await site.bucket.objects()).filter((name) => name.endsWith(filename))
  expect((await site.bucket.object(key!)).equals(whole)).toBe(true)
})

/** Returns the names of the database files and write-ahead log files that contain these bytes on disk. */
async function filesWith(bytes: Buffer): Promise<string[]> {
  const found = await rows<{ name: string }>(
    handle.db,
    sql`
    with folder as (
      select 'base/' || oid as name from pg_database where datname = current_database() union all select 'pg_wal'
    ), file as (
      select folder.name || '/' || entry as name from folder cross join lateral pg_ls_dir(folder.name) entry
    )
    select name from file where not (pg_stat_file(name)).isdir
      and position(decode(${bytes.toString('hex')}, 'hex') in pg_read_binary_file(name)) > 0`,
  )
  return found.map(({ name }) => name)
}
