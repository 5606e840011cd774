import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { StartError } from '../kernel/errors.ts'
import { type Db, rows } from './database.ts'

const FOLDER = join(import.meta.dirname, '../../../drizzle/migrations')
/** The first one is the baseline: the oldest schema that is upgraded from. */
export const MIGRATIONS = readMigrationFiles({ migrationsFolder: FOLDER })
/** The hashes of the migrations that made the schema of the baseline before there was a baseline. */
export const REPLACED = hashesBefore(MIGRATIONS[0]!)
/** Any fixed number does; it is the lock's name. */
const LOCK = 7_584_230_019
const DUPLICATE_TABLE = '42P07'

function hashesBefore(baseline: MigrationMeta): string[] {
  const landed = readFileSync(join(FOLDER, 'landed.txt'), 'utf8').split('\n')
  const hashes = landed.filter(Boolean).map((line) => line.split(' ')[0]!)
  return hashes.slice(0, hashes.indexOf(baseline.hash))
}

/**
 * Brings the schema up to date: each migration in order, once, all in one transaction that holds a lock, so
 * that any number of processes may start at the same time. A schema that a newer Sluice has added to is left as it
 * is: during a rolling deployment, and after going back, older nodes run on it.
 */
export async function migrate(
  db: Db,
  wanted: MigrationMeta[] = MIGRATIONS,
  replaced: string[] = REPLACED,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
    await tx.execute(
      sql`create table if not exists sluice_migrations (hash text primary key, applied_at timestamptz not null default now())`,
    )
    const found = await rows<{ hash: string }>(tx, sql`select hash from sluice_migrations`)
    const recorded = found.map(({ hash }) => hash)
    const done = schemaOf(recorded, wanted, replaced)
    if (!done) throw new StartError(isOlder(recorded, replaced) ? TOO_OLD : UNKNOWN)
    // Also of an empty database, so that nodes of the version before the baseline may start on it.
    const hashes = [...replaced, ...done.map(({ hash }) => hash)]
    for (const hash of hashes.filter((hash) => !recorded.includes(hash))) await record(tx, hash)
    for (const migration of wanted.slice(done.length)) await apply(tx, migration)
  })
}

const TOO_OLD =
  'The database is older than this version of Sluice can upgrade: start the version of 23 November 2026 (commit 757d55c) on it once, and then this one.'
const UNKNOWN =
  'The database was made by a version of Sluice that this one cannot upgrade, such as one under development. ' +
  'Start the version that made it, or give this one an empty database: another DATABASE_URL or, without one, another DATA_DIR.'

/**
 * Which of the wanted migrations, from the first, a database has that recorded these hashes; undefined if it cannot be
 * brought up to date from there. Only a schema that has all of them may have others, too.
 */
export function schemaOf(
  recorded: readonly string[],
  wanted: MigrationMeta[] = MIGRATIONS,
  replaced: readonly string[] = REPLACED,
): MigrationMeta[] | undefined {
  const own = new Set(recorded.filter((hash) => !replaced.includes(hash)))
  if (own.size === 0 && recorded.length > 0)
    return isOlder(recorded, replaced) ? undefined : wanted.slice(0, 1)
  const todo = wanted.findIndex(({ hash }) => !own.has(hash))
  if (todo === -1) return wanted
  return own.size === todo ? wanted.slice(0, todo) : undefined
}

function isOlder(recorded: readonly string[], replaced: readonly string[]): boolean {
  return recorded.length < replaced.length && recorded.every((hash) => replaced.includes(hash))
}

async function apply(tx: Db, migration: MigrationMeta): Promise<void> {
  try {
    for (const statement of migration.sql) await tx.execute(sql.raw(statement))
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as Error & { code?: string }
    if (code !== DUPLICATE_TABLE) throw error
    throw new StartError(
      `The database holds tables that Sluice did not make (${message}). Give Sluice a database of its own in DATABASE_URL.`,
      { cause: error },
    )
  }
  await record(tx, migration.hash)
}

async function record(tx: Db, hash: string): Promise<void> {
  await tx.execute(sql`insert into sluice_migrations (hash) values (${hash})`)
}

/** For the readiness probe: the database answers, and has every migration of this program. */
export async function migrationsApplied(db: Db): Promise<boolean> {
  const [row] = await rows<{ n: number }>(
    db,
    sql`select count(*)::int as n from sluice_migrations where hash in (${sql.join(
      MIGRATIONS.map(({ hash }) => sql`${hash}`),
      sql`, `,
    )})`,
  )
  return row?.n === MIGRATIONS.length
}
