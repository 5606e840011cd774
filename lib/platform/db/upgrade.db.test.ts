import { existsSync, readFileSync } from 'node:fs'
import { CreateMultipartUploadCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { afterEach, beforeAll, expect, inject, it } from 'vitest'
import * as schema from '#drizzle/schema/index.ts'
import { keystream } from '../../../test/support/keystream.ts'
import { createDatabase } from '../../../test/support/postgres.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { tusClient } from '../../../test/support/tus-client.ts'
import { openTestBucket, serveUploads, type TestBucket } from '../../../test/support/upload-site.ts'
import { claimDeliveries } from '../../webhooks/delivery/claim.ts'
import { days, systemClock } from '../kernel/clock.ts'
import { uuidv7 } from '../kernel/ids.ts'
import { type DatabaseHandle, type Db, rows } from './database.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './open-postgres.ts'

/**
 * Each landed schema, with data and uploads in progress, is brought to the newest, which is that of drizzle/schema, and
 * the uploads go on. The data is that of the newest file in e2e/landed which the schema can take: an old node may still write on a newer schema.
 */
const folder = 'drizzle/migrations'
const migrations = readMigrationFiles({ migrationsFolder: folder })
const journal = JSON.parse(readFileSync(`${folder}/meta/_journal.json`, 'utf8'))
const tags: string[] = journal.entries.map(({ tag }: { tag: string }) => tag)
const MiB = 1024 * 1024
const PIPE = 'pipe_kpwlxh5g22atxm5txv76'
const TOKEN = 'tmp_A6FU7mGw0I7KniRL2bBPa2XjothLXKT5A8Jmu23vYhv'
const OUTPUT = '01a202dc-306e-7099-ac63-20f7668f6c6d'
const SMALL = '01a202dc-30bf-73e5-832c-148f99ba4f7f'
const LARGE = '01a202dc-30dd-7441-b71e-bd44df882c70'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

let wanted: string[]
beforeAll(async () => {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const { db, close } = openPostgres({ address: url })
  const [empty, whole] = [{}, schema].map((tables) =>
    generateDrizzleJson(tables, undefined, undefined, 'snake_case'),
  )
  for (const statement of await generateMigration(empty!, whole!)) await db.execute(sql.raw(statement))
  wanted = await catalog(db)
  await close()
  await drop()
})

it.each(tags.map((tag, at) => [tag, at] as const))('goes from %s to the newest schema', async (_, at) => {
  const database = await openLanded(at)
  const { db } = database
  const bucket = await openTestBucket()
  closing.push(() => bucket.close())
  await beginLarge(db, bucket)
  const before = await counts(db)

  await migrate(db)

  expect(await catalog(db)).toEqual(wanted)
  expect(await counts(db)).toMatchObject(before)
  const node = await serveUploads({ ...testRuntime(database), clock: systemClock })
  closing.push(() => node.close())
  const client = tusClient({ url: node.url, pipeId: PIPE, token: TOKEN })
  for (const [id, name, bytes, offset] of [
    [SMALL, 'small.bin', 2000, 700],
    [LARGE, 'large.bin', 20 * MiB, 8 * MiB + 700],
  ] as const) {
    const url = `${client.collection}${id}`
    expect((await client.head(url)).headers['upload-offset']).toBe(String(offset))
    expect((await client.patch(url, offset, keystream(bytes).subarray(offset))).status).toBe(204)
    expect((await bucket.object(`${id}/${name}`)).equals(keystream(bytes))).toBe(true)
  }
  const due = await claimDeliveries(db, [{ outputId: OUTPUT, count: 10 }], systemClock.now())
  expect(due.map(({ body }) => JSON.parse(body).data.filename).sort()).toEqual([
    'large.bin',
    'small.bin',
    'transferred.bin',
  ])
})

it('takes along what bears a time to come, of a clock that was ahead', async () => {
  const { db } = await openLanded(tags.indexOf('0011_find_cut_requests'))
  const later = uuidv7(Date.now() + days(400))
  const before = await counts(db)
  await db.execute(
    sql`update file_timeline set id = ${later}::uuid where id = (select max(id::text)::uuid from file_timeline)`,
  )
  await db.execute(
    sql`update events set id = ${later}::uuid where id not in (select event_id from deliveries)`,
  )
  await migrate(db)
  expect(await counts(db)).toMatchObject(before)
  expect((await counts(db)).file_timeline_default).toBe(1)
})

/** A database that was made at this migration, with data of that time. */
async function openLanded(at: number): Promise<DatabaseHandle> {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  closing.push(drop, handle.close)
  await migrate(handle.db, migrations.slice(0, at + 1))
  const data = tags
    .slice(0, at + 1)
    .map((tag) => `e2e/landed/${tag}.sql`)
    .findLast((file) => existsSync(file))
  const text = readFileSync(data!, 'utf8').replace(/^--.*\n/gm, '')
  for (const statement of text.split(/;\n/).filter(Boolean)) await handle.db.execute(sql.raw(statement))
  return handle
}

/** The bucket's side of the upload that has a part there. */
async function beginLarge(db: Db, bucket: TestBucket): Promise<void> {
  const { endpoint, region, name: Bucket, key } = bucket
  const s3 = new S3Client({
    endpoint,
    region,
    forcePathStyle: true,
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
  })
  const place = { Bucket, Key: `${LARGE}/large.bin` }
  const { UploadId } = await s3.send(new CreateMultipartUploadCommand(place))
  const part = { ...place, UploadId, PartNumber: 1, Body: keystream(8 * MiB) }
  await s3.send(new UploadPartCommand(part))
  s3.destroy()
  await db.execute(sql`update data_stores set endpoint = ${endpoint}`)
  await db.execute(
    sql`update file_destinations set multipart_id = ${UploadId} where file_id = ${LARGE}::uuid`,
  )
}

/** Every column, index and constraint, a line each; of a table of months only its own. */
async function catalog(db: Db): Promise<string[]> {
  const found = await rows<{ line: string }>(
    db,
    sql`select concat_ws(' ', attrelid::regclass, attname, format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end, 'default ' || pg_get_expr(adbin, adrelid)) as line
      from pg_attribute join pg_class on pg_class.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace and attnum > 0
        and not attisdropped
      union all select replace(pg_get_indexdef(indexrelid), ' ON ONLY ', ' ON ')
      from pg_index join pg_class on pg_class.oid = indrelid
      where not relispartition and relnamespace = 'public'::regnamespace
      union all select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(pg_constraint.oid))
      from pg_constraint join pg_class on pg_class.oid = conrelid
      where not relispartition and connamespace = 'public'::regnamespace`,
  )
  return found
    .map(({ line }) => line)
    .filter((line) => !line.includes('sluice_migrations'))
    .sort()
}

/** How many rows each table has. */
async function counts(db: Db): Promise<Record<string, number>> {
  const found = await rows<{ name: string; n: number }>(
    db,
    sql`select table_name as name,
      (xpath('/row/n/text()', query_to_xml(format('select count(*) as n from %I', table_name), false, true, '')))[1]::text::int as n
      from information_schema.tables where table_schema = 'public' and table_name <> 'sluice_migrations'`,
  )
  return Object.fromEntries(found.map(({ name, n }) => [name, n]))
}
