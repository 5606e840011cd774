import { randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { expect, it } from 'vitest'
import { rows } from '#lib/db/database.ts'
import { migrate } from '#lib/db/migrate.ts'
import { openPostgres } from '#lib/db/open-postgres.ts'
import { createDatabase, startPostgres } from '../parts/postgres.ts'
import { tusClient } from '../parts/tus-client.ts'
import { createSite, serveUploads } from '../parts/upload-site.ts'

const KiB = 1024
const CHUNK_BYTES = 64 * KiB
const FILE_BYTES = 6 * 1024 * KiB

it('what waits in the database costs at most half more of its write-ahead log', async ({ skip }) => {
  if (process.env.DATABASE_URL) return skip('The log of a shared server counts what others write, too.')
  const server = await startPostgres()
  const { url } = await createDatabase(server.url)
  const handle = openPostgres({ address: url })
  await migrate(handle.db)
  const site = await createSite({ ...handle, kind: 'postgres' })
  const node = await serveUploads(site.runtime)
  const client = tusClient({ url: node.url, pipeId: site.pipe.id, token: await site.token() })
  const whole = randomBytes(FILE_BYTES)
  const at = (await client.create(whole.length)).headers.location!
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
  await node.close()
  await site.close()
  await handle.close()
  await server.stop()
})
