import { sql } from 'drizzle-orm'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { type Db, rows } from './database.ts'

const MIGRATIONS = new URL('../../drizzle/migrations', import.meta.url).pathname
/** Any fixed number does; it is the lock's name. */
const LOCK = 7_584_230_019

/**
 * Brings the schema up to date: each migration in order, once, all in one transaction that holds a lock, so
 * that any number of processes may start at the same time.
 */
export async function migrate(db: Db): Promise<void> {
  const wanted = readMigrationFiles({ migrationsFolder: MIGRATIONS })
  await db.transaction(async (tx) => {
    await tx.execute(sql`select pg_advisory_xact_lock(${LOCK})`)
    await tx.execute(
      sql`create table if not exists sluice_migrations (hash text primary key, applied_at timestamptz not null default now())`,
    )
    const done = new Set(
      (await rows<{ hash: string }>(tx, sql`select hash from sluice_migrations`)).map((row) => row.hash),
    )
    for (const migration of wanted.filter(({ hash }) => !done.has(hash))) {
      for (const statement of migration.sql) await tx.execute(sql.raw(statement))
      await tx.execute(sql`insert into sluice_migrations (hash) values (${migration.hash})`)
    }
  })
}

/** For the readiness probe: the database answers, and knows every migration of this program. */
export async function migrationsApplied(db: Db): Promise<boolean> {
  const wanted = readMigrationFiles({ migrationsFolder: MIGRATIONS }).map(({ hash }) => hash)
  const [row] = await rows<{ n: number }>(
    db,
    sql`select count(*)::int as n from sluice_migrations where hash in (${sql.join(
      wanted.map((hash) => sql`${hash}`),
      sql`, `,
    )})`,
  )
  return row?.n === wanted.length
}
