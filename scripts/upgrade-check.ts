import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type Db, rows } from '../lib/platform/db/database.ts'
import { openEmbedded } from '../lib/platform/db/embedded/open-embedded.ts'
import { MIGRATIONS, migrationsOf } from '../lib/platform/db/migrate.ts'
import { openDatabase } from '../lib/platform/db/open-database.ts'
import { type Costs, measure } from '../lib/platform/db/upgrade/estimate.ts'
import { rehearse } from '../lib/platform/db/upgrade/rehearse.ts'
import { createLogger } from '../lib/platform/log/log.ts'
import { loadSettings } from './load-settings.ts'
import { commandLine, misused, readOptions, runScript } from './read-options.ts'
import { compareBalancer, tellMigration, unreadSettings } from './upgrade/findings.ts'

/**
 * `npm run admin -- upgrade-check`, run in the version to upgrade to with the settings of the running one. It reports what the
 * new version's migrations lock, and for how long on this database; settings that the new version does not read; and
 * lines that your balancer file is missing. It changes nothing. Exit code 2 means that something needs attention first.
 */
const USAGE = 'npm run admin -- upgrade-check [--balancer /etc/haproxy/haproxy.cfg]'
const ROOT = dirname(import.meta.dirname)

const { balancer } = readOptions(USAGE, { options: { balancer: { type: 'string' } } }).values
if (balancer && !existsSync(balancer)) misused(`${balancer} does not exist`, USAGE)

await runScript(async () => {
  const config = loadSettings()
  const database = await openDatabase(config, { log: createLogger('warn'), share: true })
  try {
    const fine = [await checkMigrations(database.db), checkSettings(), checkBalancer()]
    if (!fine.every(Boolean)) process.exitCode = 2
  } finally {
    await database.close()
  }
})

async function checkMigrations(db: Db): Promise<boolean> {
  const done = await migrationsOf(db)
  const todo = MIGRATIONS.length - done.length
  console.log(await describeDatabase(db, done.length))
  if (todo === 0) console.log('Migrations: none to apply.')
  if (todo === 0 || done.length === 0) return true
  const rehearsed = await inScratch((scratch) => rehearse(scratch, done))
  const costs = new Map<string, Costs>()
  for (const { table } of rehearsed.flatMap(({ effects }) => effects))
    if (!costs.has(table)) costs.set(table, await measure(db, table))
  console.log(
    'Migrations, each in its own transaction, which waits up to 0.9 s for its locks and then retries:',
  )
  const told = rehearsed.map((migration) => tellMigration(migration, costs))
  for (const { lines } of told) console.log(lines.join('\n'))
  return told.every(({ isLong }) => !isLong)
}

type Node = { version: string; count: number }

async function describeDatabase(db: Db, applied: number): Promise<string> {
  const [server] = await rows<{ version: string }>(
    db,
    sql`select current_setting('server_version') as version`,
  )
  const about = `PostgreSQL ${server!.version} with ${applied} of ${MIGRATIONS.length} migrations.`
  const [there] = await rows<{ name: string | null }>(db, sql`select to_regclass('nodes')::text as name`)
  if (!there!.name) return about
  const nodes = await rows<Node>(
    db,
    sql`select version, count(*)::int as count from nodes where seen_at > now() - interval '1 minute' group by version order by version`,
  )
  const running = nodes.map(({ version, count }) => `${count} of version ${version}`)
  return `${about} Running processes: ${running.join(', ') || 'none'}.`
}

/** Uses an embedded PostgreSQL, so that no additional permissions are needed on the operator's server. */
async function inScratch<Result>(work: (db: Db) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-upgrade-'))
  const scratch = await openEmbedded(join(folder, 'db'), { log: createLogger('warn') })
  try {
    return await work(scratch.db)
  } finally {
    await scratch.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function checkSettings(): boolean {
  const unread = existsSync('.env') ? unreadSettings(readFileSync('.env', 'utf8')) : []
  for (const { name, meant } of unread)
    console.log(
      `! Settings: .env has ${name}, which this version does not read.${meant ? ` Did you mean ${meant}?` : ''}`,
    )
  if (unread.length === 0) console.log('Settings: all are valid.')
  return unread.length === 0
}

function checkBalancer(): boolean {
  if (!balancer) {
    console.log(`Balancer: not checked; ${commandLine(USAGE)}`)
    return true
  }
  const { shipped, missing } = compareBalancer(readFileSync(balancer, 'utf8'), ROOT)
  console.log(
    `${missing.length > 0 ? '! ' : ''}Balancer: ${balancer} ${missing.length > 0 ? 'is missing lines of' : 'has all lines of'} ${shipped}.`,
  )
  for (const line of missing) console.log(`      ${line}`)
  return missing.length === 0
}
