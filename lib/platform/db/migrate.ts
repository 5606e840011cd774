import { join } from 'node:path'
import { sql } from 'drizzle-orm'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { StartError } from '../kernel/errors.ts'
import { type Db, rows } from './database.ts'

export const MIGRATIONS = readMigrationFiles({
  migrationsFolder: join(import.meta.dirname, '../../../drizzle/migrations'),
})
/** Any fixed number does; it is the lock's name. */
const LOCK = 7_584_230_019
const DUPLICATE_TABLE = '42P07'

/**
 * Brings the schema up to date: each migration in order, once, all in one transaction that holds a lock, so
 * that any number of processes may start at the same time. A schema that a newer Sluice has added to is left as it
 * is: during a rolling deployment, and after going back, older nodes run on it.
 */
export async function migrate(db: Db, wanted: MigrationMeta[] = MIGRATIONS): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
    await tx.execute(
      sql`create table if not exists sluice_migrations (hash text primary key, applied_at timestamptz not null default now())`,
    )
    const recorded = await rows<{ hash: string }>(tx, sql`select hash from sluice_migrations`)
    for (const migration of missing(wanted, new Set(recorded.map(({ hash }) => hash)))) {
      await apply(tx, migration)
    }
  })
}

/** What is recorded must be the first of our migrations; only a schema that has all of ours may have others too. */
function missing(wanted: MigrationMeta[], recorded: Set<string>): MigrationMeta[] {
  const todo = wanted.filter(({ hash }) => !recorded.has(hash))
  const done = wanted.length - todo.length
  const inOrder = wanted.slice(0, done).every(({ hash }) => recorded.has(hash))
  if (todo.length > 0 && (recorded.size > done || !inOrder)) {
    throw new StartError(
      'The database was made by a version of Sluice that this one cannot upgrade, such as one under development. ' +
        'Start the version that made it, or give this one an empty database: another DATABASE_URL or, without one, another DATA_DIR.',
    )
  }
  return todo
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
  await tx.execute(sql`insert into sluice_migrations (hash) values (${migration.hash})`)
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
