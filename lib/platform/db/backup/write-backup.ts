import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import { StartError } from '../../kernel/errors.ts'
import { connect } from '../connect.ts'
import type { Address } from '../database.ts'
import { END_OF_TABLE, LAST_LINE, writeHeading, writeTableStart } from './format.ts'

/**
 * Writes everything that Sluice keeps into one file, as it was at one moment, while Sluice goes on. Jobs of the queue are
 * left out: sweeps make them anew from the rows that they speak of. The file appears whole or not at all.
 */
export async function writeBackup(address: Address, file: string): Promise<{ tables: number }> {
  const client = connect(address, { max: 1, onnotice: () => {} })
  const part = `${file}.part`
  try {
    const tables = await client.begin('isolation level repeatable read read only', async (tx) => {
      const migrations = await migrationsOf(tx)
      const found = inOrder(await tablesOf(tx))
      const target = createWriteStream(part, { mode: 0o600, flush: true })
      await pipeline(pieces(tx, found, migrations), target)
      return found.length
    })
    await rename(part, file)
    return { tables }
  } finally {
    await rm(part, { force: true })
    await client.end()
  }
}

async function migrationsOf(tx: TransactionSql): Promise<string[]> {
  const [there] = await tx`select to_regclass('sluice_migrations') is not null as migrated`
  if (!there?.migrated)
    throw new StartError('There is nothing to back up: no Sluice has used this database yet.')
  const recorded = await tx`select hash from sluice_migrations`
  return recorded.map(({ hash }) => hash as string)
}

type Table = { name: string; columns: string[]; refersTo: string[] }

async function tablesOf(tx: TransactionSql): Promise<Table[]> {
  return tx<Table[]>`
    select c.relname as name,
      (select json_agg(a.attname order by a.attnum) from pg_attribute a
        where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = '') as columns,
      (select coalesce(json_agg(f.relname), '[]') from pg_constraint k join pg_class f on f.oid = k.confrelid
        where k.conrelid = c.oid and k.contype = 'f' and f.oid <> c.oid) as "refersTo"
    from pg_class c
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'sluice_migrations'
    order by c.relname`
}

/** Those that others refer to before them. */
function inOrder(tables: Table[]): Table[] {
  const ordered = new Set<Table>()
  const put = (table: Table, below: Table[]) => {
    if (ordered.has(table) || below.includes(table)) return
    for (const name of table.refersTo) put(tables.find((one) => one.name === name)!, [...below, table])
    ordered.add(table)
  }
  for (const table of tables) put(table, [])
  return [...ordered]
}

async function* pieces(tx: TransactionSql, tables: Table[], migrations: string[]) {
  yield writeHeading({ migrations })
  for (const { name, columns } of tables) {
    yield writeTableStart(name, columns)
    const all = `select ${columns.map((column) => `"${column}"`).join(', ')} from "${name}"`
    yield* await tx.unsafe(`copy (${all}) to stdout`).readable()
    yield `${END_OF_TABLE}\n`
  }
  yield `${LAST_LINE}\n`
}
