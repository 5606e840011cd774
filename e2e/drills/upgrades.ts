import { readdirSync } from 'node:fs'
import { MIGRATIONS, migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { insertLanded, PIPE, TOKEN } from '../../test/support/landed.ts'
import { createDatabase, type PostgresServer, startPostgres } from '../../test/support/postgres.ts'
import { type Sluice, startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { commitBefore, sourceBefore } from '../../test/support/source-before.ts'
import { tusClient } from '../../test/support/tus-client.ts'
import { openTestBucket } from '../../test/support/upload-site.ts'
import { startLoad } from './steady-load.ts'

/**
 * `npm run drill -- upgrades`: tests `--times` upgrades, starting from each kept migration in turn. Clients send one
 * file after another to a node running an older version. A node running this version starts alongside it, upgrades the
 * schema, serves together with the older node, and then alone. No start and no request may fail, and every object must
 * equal what its client sent.
 */
const CLIENTS = 6
/** How many files the older node alone, both nodes, and the newer node alone each receive. */
const FILES = 3 * CLIENTS

const names = readdirSync('drizzle/migrations')
  .filter((name) => name.endsWith('.sql'))
  .sort()

type Upgrade = {
  from: string
  commit: string
  files: number
  startMs: number
  /** The longest request on the older node alone, on the same machine. */
  beforeMs: number
  longestMs: number
  failures: string[]
}

async function upgrade(postgres: PostgresServer, at: number): Promise<Upgrade> {
  const before = sourceBefore(at === 0 ? undefined : commitBefore(names[at + 1]!))
  if (!before) throw new Error("The upgrades need the repository's full history.")
  using folder = temporaryFolder()
  const bucket = await openTestBucket()
  const { url, drop } = await createDatabase(postgres.url)
  const database = openPostgres({ address: url })
  await migrate(database.db, MIGRATIONS.slice(0, 1))
  await insertLanded(database.db, bucket)
  await migrate(database.db, MIGRATIONS.slice(0, at + 1))
  const env = {
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    AUTH_SECRET: 'a'.repeat(40),
    BASE_URL: 'http://localhost:0',
    HOST: '127.0.0.1',
    ALLOWED_PRIVATE_HOSTS: '*',
    FREE_TIER_BYTES: '0',
    DATABASE_URL: url,
    DATA_DIR: folder.path,
    ROLES: 'upload,worker',
  }
  const older = await startSluice(env, before.folder)
  const load = startLoad(clientOf(older), CLIENTS)
  await load.more(FILES)
  const beforeMs = load.takeLongestMs()
  const startedAt = performance.now()
  const newer = await startSluice(env)
  const startMs = performance.now() - startedAt
  load.goTo([clientOf(older), clientOf(newer)])
  await load.more(FILES)
  load.goTo([clientOf(newer)])
  // Waits for the files that clients have already started, and for one more file from each.
  await load.more(2 * CLIENTS)
  const codes = [await older.stop()]
  await load.more(FILES)
  const { sent, failures } = await load.end()
  const longestMs = load.takeLongestMs()
  codes.push(await newer.stop())
  failures.push(...codes.filter((code) => code !== 0).map((code) => `a node exited with ${code}`))
  for (const { id, whole } of sent)
    if (!(await bucket.object(`${id}/file`)).equals(whole)) failures.push(`${id} differs from what was sent`)
  await Promise.all([database.close(), bucket.close()])
  await drop()
  return {
    from: names[at]!,
    commit: before.commit,
    files: sent.length,
    startMs,
    beforeMs,
    longestMs,
    failures,
  }
}

const clientOf = ({ baseUrl }: Sluice) => tusClient({ url: baseUrl, pipeId: PIPE, token: TOKEN })

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- upgrades [--times 20]', {
    options: { times: { type: 'string', default: '20' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const postgres = await startPostgres()
  let well = true
  let longest = 0
  for (let n = 0; n < Number(values.times); n++) {
    const { from, commit, files, startMs, beforeMs, longestMs, failures } = await upgrade(
      postgres,
      n % (names.length - 1),
    )
    well &&= failures.length === 0
    longest = Math.max(longest, longestMs)
    console.log(
      `${failures.length === 0 ? 'ok  ' : 'FAIL'}  from ${from} (${commit.slice(0, 7)}): ${files} files, started after ${Math.round(startMs)} ms, the longest request took ${Math.round(longestMs)} ms, before the upgrade ${Math.round(beforeMs)} ms`,
    )
    for (const failure of failures) console.log(`      ${failure.slice(0, 300)}`)
  }
  console.log(`The longest request took ${Math.round(longest)} ms.`)
  await postgres.stop()
  return well
}

process.exit((await main()) ? 0 : 1)
