import { sql } from 'drizzle-orm'
import { type Db, rows } from '../database.ts'
import type { Effect } from './rehearse.ts'

/** How long a migration takes on this database, extrapolated from the same work on a sample of the table. */
export type Costs = {
  rows: number
  bytes: number
  indexes: number
  /** Times for the entire table: to read it, copy it and index it. */
  readMs: number
  copyMs: number
  indexMs: number
}

/** The size of the sample of a table that is read, copied into a temporary table and indexed there. */
const SAMPLE_BYTES = 16 * 1024 * 1024
const LIMIT_MS = 15_000

class Measured extends Error {}

/** Measures without changing anything: the sample is discarded when its transaction is rolled back. */
export async function measure(db: Db, table: string): Promise<Costs> {
  const size = await sizeOf(db, table)
  const share = Math.min(1, SAMPLE_BYTES / Math.max(1, size.bytes))
  const times: number[] = []
  const undone = db.transaction(async (tx) => {
    await tx.execute(sql.raw(`set local statement_timeout = ${LIMIT_MS}`))
    const sample = sql.raw(`"${table}" tablesample system (${share * 100})`)
    const steps = [
      sql`select count(*) from ${sample}`,
      sql`create temporary table sluice_sample on commit drop as select * from ${sample}`,
      sql`create index on sluice_sample (${sql.identifier(size.column)})`,
    ]
    for (const step of steps) {
      const startedAt = performance.now()
      await tx.execute(step)
      times.push((performance.now() - startedAt) / share)
    }
    throw new Measured()
  })
  await undone.catch((error) => {
    if (!(error instanceof Measured)) throw error
  })
  const [readMs, copyMs, indexMs] = times as [number, number, number]
  return { rows: size.rows, bytes: size.bytes, indexes: size.indexes, readMs, copyMs, indexMs }
}

type Size = { rows: number; bytes: number; indexes: number; column: string }

/** The size of a table, including all its months if it is partitioned. */
async function sizeOf(db: Db, table: string): Promise<Size> {
  const [size] = await rows<Size>(
    db,
    sql`select sum(greatest(c.reltuples, 0))::float8 as rows, sum(pg_table_size(c.oid))::float8 as bytes,
        (select count(*)::int from pg_index where indrelid = ${table}::regclass) as indexes,
        (select attname from pg_attribute where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
          order by attnum limit 1) as column
      from pg_class c
      where c.oid = ${table}::regclass or c.oid in (select relid from pg_partition_tree(${table}::regclass))`,
  )
  return size!
}

/** Writing a row also writes it to each index. */
export function estimateMs(effect: Effect, costs: Costs): number {
  const built = effect.indexes * costs.indexMs
  if (effect.rows === 'untouched') return built
  if (effect.rows === 'read') return effect.indexes > 0 ? built : costs.readMs
  return costs.copyMs + costs.indexes * costs.indexMs + built
}
