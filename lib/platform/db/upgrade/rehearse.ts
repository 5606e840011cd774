import { sql } from 'drizzle-orm'
import type { MigrationMeta } from 'drizzle-orm/migrator'
import { type Db, rows } from '../database.ts'
import { isConcurrent, MIGRATIONS, migrate, nameOf } from '../migrate.ts'

/**
 * Determines what migrations do to existing tables, using PostgreSQL itself: they run in an empty database, after the
 * migrations that the real database already has, and the locks, scans and new files of each migration are recorded
 * before it commits.
 */
export type Effect = {
  table: string
  /** The strongest lock held on the table at the end of the migration, as named in pg_locks. */
  lock: string
  /** Whether the migration reads all rows, writes them, or rewrites the table. */
  rows: 'untouched' | 'read' | 'written' | 'rewritten'
  indexes: number
}
export type Rehearsed = { name: string; effects: Effect[] }

/** From weakest to strongest. Locks that are not listed block nobody. */
const LOCKS = [
  'AccessShareLock',
  'RowShareLock',
  'RowExclusiveLock',
  'ShareUpdateExclusiveLock',
  'ShareLock',
  'ShareRowExclusiveLock',
  'ExclusiveLock',
  'AccessExclusiveLock',
]

export type Waiting = 'nobody' | 'writers' | 'everybody'

export function waitingFor(lock: string): Waiting {
  if (lock === 'AccessExclusiveLock') return 'everybody'
  return LOCKS.indexOf(lock) > LOCKS.indexOf('ShareUpdateExclusiveLock') ? 'writers' : 'nobody'
}

/** `scratch` must be empty, and has the schema of all `wanted` migrations afterwards. */
export async function rehearse(
  scratch: Db,
  done: MigrationMeta[],
  wanted: MigrationMeta[] = MIGRATIONS,
): Promise<Rehearsed[]> {
  await migrate(scratch, done)
  const rehearsed: Rehearsed[] = []
  for (const [at, migration] of wanted.entries()) {
    if (at < done.length) continue
    const before = await tablesOf(scratch)
    const seen = isConcurrent(migration) ? undefined : await observe(scratch, migration, before)
    await migrate(scratch, wanted.slice(0, at + 1))
    const effects = seen ?? builtBeside(before, await tablesOf(scratch))
    rehearsed.push({ name: nameOf(migration), effects })
  }
  return rehearsed
}

type Table = { name: string; file: string; indexes: number }

/** Leaves out partitions: a table's months count as part of it. */
async function tablesOf(db: Db): Promise<Map<string, Table>> {
  const found = await rows<Table & { oid: string }>(
    db,
    sql`select c.oid::text as oid, c.relname as name, c.relfilenode::text as file,
        (select count(*)::int from pg_index i where i.indrelid = c.oid) as indexes
      from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
        and not c.relispartition`,
  )
  return new Map(found.map(({ oid, ...table }) => [oid, table]))
}

class Observed extends Error {}

/** Runs a migration in a transaction that is rolled back. */
async function observe(db: Db, migration: MigrationMeta, before: Map<string, Table>): Promise<Effect[]> {
  let effects: Effect[] = []
  const undone = db.transaction(async (tx) => {
    const scannedBefore = await scansIn(tx)
    for (const statement of migration.sql) await tx.execute(sql.raw(statement))
    effects = await effectsIn(tx, before, scannedBefore)
    throw new Observed()
  })
  await undone.catch((error) => {
    if (!(error instanceof Observed)) throw error
  })
  return effects
}

/**
 * PostgreSQL includes unreported statistics from the session's earlier transactions, so callers have to subtract the
 * values that they read before the migration.
 */
async function scansIn(tx: Db): Promise<Map<string, number>> {
  const found = await rows<{ oid: string; scans: number }>(
    tx,
    sql`select relid::text as oid, seq_scan::int as scans from pg_stat_xact_user_tables where seq_scan > 0`,
  )
  return new Map(found.map(({ oid, scans }) => [oid, scans]))
}

type Held = { oid: string; modes: string[] }

async function effectsIn(
  tx: Db,
  before: Map<string, Table>,
  scannedBefore: Map<string, number>,
): Promise<Effect[]> {
  const held = await rows<Held>(
    tx,
    sql`select relation::text as oid, array_agg(distinct mode) as modes
      from pg_locks where pid = pg_backend_pid() and locktype = 'relation' group by relation`,
  )
  const scanned = await scansIn(tx)
  const after = await tablesOf(tx)
  return held.flatMap(({ oid, modes }) => {
    const scans = (scanned.get(oid) ?? 0) - (scannedBefore.get(oid) ?? 0)
    const [was, is] = [before.get(oid), after.get(oid)]
    if (!was || was.name === 'sluice_migrations') return []
    const lock = LOCKS.findLast((mode) => modes.includes(mode))!
    const touched = modes.includes('RowExclusiveLock') ? 'written' : scans > 0 ? 'read' : 'untouched'
    const effect: Effect = {
      table: was.name,
      lock,
      rows: is && is.file !== was.file ? 'rewritten' : touched,
      indexes: is ? Math.max(0, is.indexes - was.indexes) : 0,
    }
    return isNothing(effect) ? [] : [effect]
  })
}

/**
 * Leaves out tables that a migration locks without blocking anyone or touching their rows, for example because a new
 * table references them.
 */
const isNothing = ({ lock, rows: touched }: Effect) =>
  waitingFor(lock) === 'nobody' && touched === 'untouched'

/** The effects of CREATE INDEX CONCURRENTLY, which runs outside transactions and takes this lock. */
function builtBeside(before: Map<string, Table>, after: Map<string, Table>): Effect[] {
  return [...before].flatMap(([oid, { name, indexes }]) => {
    const more = (after.get(oid)?.indexes ?? 0) - indexes
    return more > 0 ? [{ table: name, lock: 'ShareUpdateExclusiveLock', rows: 'read', indexes: more }] : []
  })
}
