import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { type MigrationMeta, readMigrationFiles } from 'drizzle-orm/migrator'
import { StartError } from '../kernel/errors.ts'
import type { Logger } from '../log/log.ts'
import { sayFault } from '../log/say-fault.ts'
import { type Db, rows } from './database.ts'
import { isLockFailure } from './faults.ts'

const FOLDER = join(import.meta.dirname, '../../../drizzle/migrations')
/** The first migration is the baseline: it creates the oldest schema that can be upgraded. */
export const MIGRATIONS = readMigrationFiles({ migrationsFolder: FOLDER })
const NAMES = readNames()
/** The key of the advisory lock: an arbitrary fixed number. */
const LOCK = 7_584_230_019
const DUPLICATE_TABLE = '42P07'

function readNames(): Map<string, string> {
  const { entries } = JSON.parse(readFileSync(join(FOLDER, 'meta/_journal.json'), 'utf8'))
  return new Map(entries.map(({ tag }: { tag: string }, n: number) => [MIGRATIONS[n]!.hash, `${tag}.sql`]))
}

/** The name of the migration's file, or its hash if the name is unknown. */
export const nameOf = ({ hash }: MigrationMeta) => NAMES.get(hash) ?? hash

type Options = {
  log?: Logger | undefined
  pause?: (ms: number) => Promise<unknown>
}

/**
 * Upgrades the schema while nodes of the previous version serve uploads: each migration in order, once, in its own
 * transaction that holds a lock, so that any number of processes may start at the same time. If a newer version of
 * Sluice has extended the schema, this leaves it unchanged: older nodes use it during a rolling deployment and after a
 * downgrade.
 */
export async function migrate(
  db: Db,
  wanted: MigrationMeta[] = MIGRATIONS,
  { log, pause = sleep }: Options = {},
): Promise<void> {
  const run: Run = { wanted, log, isNew: undefined }
  const startedAt = performance.now()
  for (;;) {
    const state = await patiently(db, () => applyNext(db, run), { log, pause })
    if (state === 'done') {
      const ms = Math.round(performance.now() - startedAt)
      if (run.isNew) log?.info({ migrations: wanted.length, ms }, 'created the schema in an empty database')
      return
    }
    if (state === 'busy') await pause(BUSY_PAUSE_MS)
  }
}

type Run = {
  wanted: MigrationMeta[]
  log: Logger | undefined
  /** True if the database was empty. Nothing else uses it then, so one log line for all migrations is enough. */
  isNew: boolean | undefined
}

/** The result of one step; `busy` means that another process is migrating the schema. */
type State = 'applied' | 'done' | 'busy'

const BUSY_PAUSE_MS = 100

/**
 * While a migration waits for the lock on a table, all statements on that table wait, too. So it gives up early, before
 * PostgreSQL can detect a deadlock and perhaps end an upload's transaction instead. The waiting statements then run
 * before the next attempt.
 */
const LOCK_WAIT_MS = 900
const MIN_LOCK_WAIT_MS = 50
const PAUSE_MS = 1000
const MAX_TRIES = 300

async function patiently(
  db: Db,
  work: () => Promise<State>,
  { log, pause }: Required<Pick<Options, 'pause'>> & Pick<Options, 'log'>,
): Promise<State> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!isLockFailure(error)) throw error
      const holders = await oldTransactions(db)
      if (tries === MAX_TRIES) throw stillLocked(holders, error)
      const why = sayFault((error as Error).cause ?? error).split('\n')[0]
      log?.warn({ tries, why, holders }, 'a migration is waiting for a lock')
      await pause(PAUSE_MS * (0.5 + Math.random()))
    }
  }
}

type Holder = { pid: number; application: string; state: string; seconds: number }

function oldTransactions(db: Db): Promise<Holder[]> {
  return rows<Holder>(
    db,
    sql`select pid, application_name as application, state, extract(epoch from now() - xact_start)::int as seconds
      from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
      order by xact_start limit 5`,
  )
}

function stillLocked(holders: Holder[], cause: unknown): StartError {
  const oldest = holders[0]
  const who = oldest
    ? `The oldest transaction belongs to process ${oldest.pid} (${oldest.application}) and is ${oldest.seconds} s old; end it`
    : 'Find out which session holds the lock, end it'
  return new StartError(
    `A migration could not get a lock in ${MAX_TRIES} attempts. ${who}, and start again.`,
    {
      cause,
    },
  )
}

/**
 * This does not wait for the advisory lock in the database, because that could cause a deadlock: a concurrent index
 * build waits for every statement that started before it, including those that wait for the advisory lock, which the
 * migration with the build holds.
 */
function applyNext(db: Db, run: Run): Promise<State> {
  const { wanted, log } = run
  return db.transaction(async (tx) => {
    const [lock] = await rows<{ taken: boolean }>(tx, sql`select pg_try_advisory_xact_lock(${LOCK}) as taken`)
    if (!lock!.taken) return 'busy'
    await tx.execute(
      sql`create table if not exists sluice_migrations (hash text primary key, applied_at timestamptz not null default now())`,
    )
    const found = await rows<{ hash: string }>(tx, sql`select hash from sluice_migrations`)
    const recorded = found.map(({ hash }) => hash)
    run.isNew ??= recorded.length === 0
    const done = schemaOrFail(recorded, wanted)
    const next = wanted[done.length]
    if (!next) return 'done'
    const startedAt = performance.now()
    await apply(tx, next, isConcurrent(next) ? db : tx)
    const ms = Math.round(performance.now() - startedAt)
    log?.[run.isNew ? 'debug' : 'info']({ migration: nameOf(next), ms }, 'applying a migration')
    return 'applied'
  })
}

/** Matches statements that PostgreSQL only runs outside transactions. After a crash, they are run again. */
const CONCURRENTLY = /\bconcurrently\b/i
export const isConcurrent = ({ sql: statements }: MigrationMeta) =>
  statements.some((one) => CONCURRENTLY.test(one))

/** An interrupted index build leaves an unusable index. */
async function dropInvalid(db: Db, statement: string): Promise<void> {
  const name = statement.match(/\bindex\s+concurrently\s+(?:if\s+not\s+exists\s+)?"?(\w+)"?/i)?.[1]
  if (!name) return
  const [invalid] = await rows(
    db,
    sql`select from pg_index join pg_class on pg_class.oid = indexrelid where relname = ${name} and not indisvalid`,
  )
  if (invalid) await db.execute(sql`drop index concurrently if exists ${sql.identifier(name)}`)
}

const UNKNOWN =
  'The database was created by a version of Sluice that this one cannot upgrade, such as a development version. ' +
  'Start the version that created it, or use an empty database: another DATABASE_URL or, without one, another DATA_DIR.'

/**
 * The wanted migrations, from the first, that a database with these recorded hashes already has; undefined if it cannot
 * be upgraded from there. Only a database with all wanted migrations may have others, too.
 */
export function schemaOf(
  recorded: readonly string[],
  wanted: MigrationMeta[] = MIGRATIONS,
): MigrationMeta[] | undefined {
  const todo = wanted.findIndex(({ hash }) => !recorded.includes(hash))
  if (todo === -1) return wanted
  return recorded.length === todo ? wanted.slice(0, todo) : undefined
}

function schemaOrFail(...given: Parameters<typeof schemaOf>): MigrationMeta[] {
  const done = schemaOf(...given)
  if (done) return done
  throw new StartError(UNKNOWN)
}

/** `tx` holds the advisory lock, even if another connection, `by`, runs the statements. */
async function apply(tx: Db, migration: MigrationMeta, by: Db): Promise<void> {
  try {
    const startedAt = performance.now()
    for (const statement of migration.sql) {
      if (by !== tx) await dropInvalid(by, statement)
      // While the migration waits for more locks, other statements wait for the rows and tables that it has already
      // locked.
      else await limitLockWait(tx, LOCK_WAIT_MS - (performance.now() - startedAt))
      await by.execute(sql.raw(statement))
    }
  } catch (error) {
    const { code, message } = ((error as Error).cause ?? error) as Error & { code?: string }
    if (code !== DUPLICATE_TABLE) throw error
    throw new StartError(
      `The database contains tables that Sluice did not create (${message}). Give Sluice its own database in DATABASE_URL.`,
      { cause: error },
    )
  }
  await record(tx, migration.hash)
}

/** The statements of a migration may take as long as they need, but not for a lock. */
async function limitLockWait(tx: Db, leftMs: number): Promise<void> {
  const ms = Math.ceil(Math.max(MIN_LOCK_WAIT_MS, leftMs))
  await tx.execute(
    sql`select set_config('lock_timeout', ${`${ms}ms`}, true), set_config('statement_timeout', '0', true)`,
  )
}

async function record(tx: Db, hash: string): Promise<void> {
  await tx.execute(sql`insert into sluice_migrations (hash) values (${hash})`)
}

/** The migrations that a database already has, or none if it is empty. This does not change the database. */
export async function migrationsOf(db: Db): Promise<MigrationMeta[]> {
  const [there] = await rows<{ name: string | null }>(
    db,
    sql`select to_regclass('sluice_migrations')::text as name`,
  )
  if (!there!.name) return []
  const found = await rows<{ hash: string }>(db, sql`select hash from sluice_migrations`)
  return schemaOrFail(found.map(({ hash }) => hash))
}

/** For the readiness probe: true if the database responds, and has every migration of this program. */
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
