import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { CreateMultipartUploadCommand, S3Client, UploadPartCommand } from '@aws-sdk/client-s3'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { sql } from 'drizzle-orm'
import { afterEach, expect, inject, it } from 'vitest'
import * as schema from '#drizzle/schema/index.ts'
import { keystream } from '../../../test/support/keystream.ts'
import { insertLanded, LANDED, PIPE, TOKEN } from '../../../test/support/landed.ts'
import { createDatabase } from '../../../test/support/postgres.ts'
import { testRuntime } from '../../../test/support/runtime.ts'
import { tusClient } from '../../../test/support/tus-client.ts'
import { openTestBucket, serveUploads, type TestBucket } from '../../../test/support/upload-site.ts'
import { authenticateAccountKey } from '../../identity/accounts/authenticate-account-key.ts'
import { readStanding } from '../../identity/sessions/read-session.ts'
import { claimDeliveries } from '../../webhooks/delivery/claim.ts'
import { systemClock } from '../kernel/clock.ts'
import { hashSecret, newSecret, uuidv7 } from '../kernel/ids.ts'
import { type Db, rows } from './database.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './open-postgres.ts'

/** A database as commit 757d55c left it, the oldest state that can be upgraded, with data and uploads in progress. */
const MiB = 1024 * 1024
const OUTPUT = 'd2c562df-e3f3-4ffa-87a3-abfd93ca27dc'
const SMALL = '01a20b40-1035-73d5-b365-ac12b028d839'
const LARGE = '01a20b40-104f-74dd-8541-f0320031e3f3'

const closing: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

it('is upgraded to the schema in drizzle/schema with all its data, and its uploads continue', async () => {
  const database = await openLanded()
  const { db } = database
  const bucket = await openTestBucket()
  closing.push(() => bucket.close())
  await beginLarge(db, bucket)
  const before = await counts(db)

  await migrate(db)

  expect(await catalog(db)).toEqual(await wantedCatalog())
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

it('infers from the counts that a workspace has had its first webhook', async () => {
  const { db } = await openLanded()
  const workspaces = await rows<{ id: string }>(db, sql`select id from workspaces order by id`)
  await db.execute(sql`delete from counts`)
  await db.execute(sql`insert into counts (workspace_id, span, at, pipe_id, delivered, durations)
    values (${workspaces[0]!.id}::uuid, 'day', '2026-02-03T00:00:00Z', '', 2, '{}')`)
  await migrate(db)
  expect(
    await rows(db, sql`select id from workspaces where webhook_delivered_at = '2026-02-03T00:00:00Z'`),
  ).toEqual([workspaces[0]])
})

it('keeps every user as the owner of their workspace, with their session and keys, without any action', async () => {
  const database = await openLanded()
  const { db } = database
  const runtime = testRuntime(database)
  const people = await rows<{ userId: string; workspaceId: string }>(
    db,
    sql`select user_id as "userId", workspace_id as "workspaceId" from members`,
  )
  expect(people.length).toBeGreaterThan(0)
  const given = people.map((person) => ({ ...person, sid: uuidv7(), key: newSecret('ak_') }))
  for (const { userId, workspaceId, sid, key } of given) {
    await db.execute(sql`insert into sessions (id, user_id, expires_at)
      values (${sid}::uuid, ${userId}::uuid, ${new Date(runtime.clock.now() + 1e9).toISOString()}::timestamptz)`)
    await db.execute(sql`insert into account_keys (id, workspace_id, name, key_hash, last4)
      values (${uuidv7()}::uuid, ${workspaceId}::uuid, 'Old', ${hashSecret(key)}, ${key.slice(-4)})`)
  }
  await migrate(db)
  for (const { userId, workspaceId, sid, key } of given) {
    expect(await readStanding(runtime, sid)).toMatchObject({
      state: 'in',
      session: {
        hasSecondFactor: false,
        workspace: { id: workspaceId },
        actor: { id: userId, role: 'owner' },
      },
    })
    expect(await authenticateAccountKey(runtime, key)).toMatchObject({ workspaceId, role: 'admin' })
  }
})

it('has the same schema after the upgrade as a new database, in every detail of the catalog', async () => {
  const [upgraded, fresh] = [await openLanded(), await openEmpty()]
  await migrate(upgraded.db)
  await migrate(fresh.db)
  const schema = await everything(fresh.db)
  expect(schema.length).toBeGreaterThan(300)
  expect(await everything(upgraded.db)).toEqual(schema)
})

it('has the same schema after the upgrade as a new database, according to pg_dump', async ({ skip }) => {
  const [upgraded, fresh] = [await openLanded(), await openEmpty()]
  const program = await findDump(fresh.db)
  if (!program) return skip('There is no pg_dump that is at least as new as the server.')
  await migrate(upgraded.db)
  await migrate(fresh.db)
  const schema = dump(program, fresh)
  expect(schema).toContain('CREATE TABLE public.files')
  expect(dump(program, upgraded)).toBe(schema)
})

it('records its migrations in a new database, too, so that a node running commit 757d55c can use it', async () => {
  const { db } = await openEmpty()
  await migrate(db)
  const recorded = await rows<{ hash: string }>(db, sql`select hash from sluice_migrations`)
  const hashes = recorded.map(({ hash }) => hash)
  expect(hashes).toEqual(expect.arrayContaining(landed.map(({ hash }) => hash)))
})

/** That commit's migrations, as listed in `landed.txt`. */
const landed = readdirSync(LANDED)
  .filter((name) => name !== 'data.sql')
  .sort()
  .map((name) => {
    const text = readFileSync(`${LANDED}/${name}`, 'utf8')
    const hash = createHash('sha256').update(text).digest('hex')
    return { line: `${hash}  ${name}`, hash, statements: text.split('--> statement-breakpoint') }
  })

async function openEmpty() {
  const { url, drop } = await createDatabase(inject('postgresUrl'))
  const handle = openPostgres({ address: url })
  closing.push(drop, handle.close)
  return { ...handle, url }
}

async function openLanded() {
  const database = await openEmpty()
  const { db } = database
  const list = readFileSync('drizzle/migrations/landed.txt', 'utf8').split('\n')
  expect(list.slice(0, landed.length)).toEqual(landed.map(({ line }) => line))
  await db.execute(
    sql`create table sluice_migrations (hash text primary key, applied_at timestamptz not null default now())`,
  )
  await db.transaction(async (tx) => {
    for (const { hash, statements } of landed) {
      for (const statement of statements) await tx.execute(sql.raw(statement))
      await tx.execute(sql`insert into sluice_migrations (hash) values (${hash})`)
    }
  })
  await insertLanded(db, { endpoint: 'http://nowhere.invalid' })
  return database
}

/** Creates, in the bucket, the multipart upload and the part that the large upload's rows refer to. */
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

async function wantedCatalog(): Promise<string[]> {
  const { db } = await openEmpty()
  const [empty, whole] = [{}, schema].map((tables) =>
    generateDrizzleJson(tables, undefined, undefined, 'snake_case'),
  )
  for (const statement of await generateMigration(empty!, whole!)) await db.execute(sql.raw(statement))
  return catalog(db)
}

/** Every column, index and constraint, one per line, without those of partitions. */
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

/** The output of `pg_dump -s` as lines: columns in order, and monthly tables with their indexes. */
async function everything(db: Db): Promise<string[]> {
  const found = await rows<{ line: string }>(
    db,
    sql`select concat_ws(' ', attrelid::regclass, attnum, attname, format_type(atttypid, atttypmod),
        case when attnotnull then 'not null' end, 'default ' || pg_get_expr(adbin, adrelid)) as line
      from pg_attribute join pg_class on pg_class.oid = attrelid
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and attnum > 0
      union all select concat_ws(' ', relname, relkind, pg_get_expr(relpartbound, oid), pg_get_partkeydef(oid))
      from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace
      union all select pg_get_indexdef(indexrelid)
      from pg_index join pg_class on pg_class.oid = indrelid where relnamespace = 'public'::regnamespace
      union all select concat_ws(' ', conrelid::regclass, conname, conislocal, pg_get_constraintdef(oid))
      from pg_constraint where connamespace = 'public'::regnamespace
      union all select pg_get_triggerdef(t.oid)
      from pg_trigger t join pg_class c on c.oid = tgrelid
      where relnamespace = 'public'::regnamespace and not tgisinternal
      union all select pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace`,
  )
  return found.map(({ line }) => line).sort()
}

/** A pg_dump that is at least as new as the server: an older one would refuse to dump it. */
async function findDump(db: Db): Promise<string | undefined> {
  const [server] = await rows<Record<string, string>>(db, sql`show server_version_num`)
  const needed = Math.floor(Number(Object.values(server!)[0]) / 10_000)
  const programs = ['pg_dump', ...globSync('/usr/lib/postgresql/*/bin/pg_dump')]
  return programs.find((program) => {
    const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
    return Number(stdout?.match(/ (\d+)/)?.[1]) >= needed
  })
}

/** The dump without the lines that contain random text. */
function dump(program: string, { url }: { url: string }): string {
  const { stdout, stderr, status } = spawnSync(program, ['--schema-only', '--dbname', url], {
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return stdout.replace(/^\\(un)?restrict .*\n/gm, '')
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
