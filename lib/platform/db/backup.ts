import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { finished, pipeline } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import { StartError } from '../kernel/errors.ts'
import type { Address, DatabaseHandle } from './database.ts'
import { migrate, schemaOf } from './migrate.ts'
import { connect } from './primary.ts'

/**
 * A backup is a single text file: a heading with the migrations of its database, each table as written by PostgreSQL's
 * `COPY` (referenced tables first), and a last line, without which the backup is incomplete. `psql` can read it, too.
 */
type Heading = { migrations: string[] }

const HEADING = '-- Sluice backup '
const LAST_LINE = '-- The end.'
const END_OF_TABLE = '\\.'

const writeHeading = (heading: Heading): string => `${HEADING}${JSON.stringify(heading)}\n`

function readHeading(line: string | undefined): Heading | undefined {
  return line?.startsWith(HEADING) ? (JSON.parse(line.slice(HEADING.length)) as Heading) : undefined
}

const writeTableStart = (table: string, columns: string[]): string =>
  `COPY "${table}" (${columns.map((column) => `"${column}"`).join(', ')}) FROM stdin;\n`

/** The table name and the COPY statement in a line that starts a table. */
function readTableStart(line: string): { table: string; statement: string } | undefined {
  const [, statement, table] = line.match(/^(COPY "(\w+)" \((?:"\w+"(?:, )?)+\) FROM stdin);$/) ?? []
  return statement && table ? { table, statement } : undefined
}

/**
 * Writes everything in Sluice's database to one file, as of a single moment, while Sluice keeps running. Queue jobs are
 * left out, because sweeps recreate them from the rows they refer to. The file appears completely or not at all.
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
    throw new StartError('There is nothing to back up: Sluice has not used this database yet.')
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

/** Sorts tables so that referenced ones come first. */
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

/** Fills an empty database from a backup, completely or not at all, and upgrades it to this version's schema. */
export async function restoreBackup(database: DatabaseHandle, file: string): Promise<{ tables: number }> {
  const lines = linesOf(file)
  const heading = readHeading((await lines.next()).value)
  if (!heading) throw new StartError(`${file} is not a Sluice backup.`)
  const client = connect(database.address, { max: 1, onnotice: () => {} })
  try {
    await prepareSchema(database, client, heading)
    const tables = await client.begin((tx) => fill(tx, lines, file))
    await migrate(database.db)
    return { tables }
  } finally {
    await lines.return(undefined)
    await client.end()
  }
}

async function* linesOf(file: string): AsyncGenerator<string, undefined> {
  const input = createReadStream(file)
  await once(input, 'open')
  yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
}

/** Creates the schema that the backup was made with, because later migrations may have to change the backup's data. */
async function prepareSchema(
  database: DatabaseHandle,
  client: ReturnType<typeof connect>,
  { migrations }: Heading,
): Promise<void> {
  const schema = schemaOf(migrations)
  const hashes = (schema ?? []).map(({ hash }) => hash)
  if (!schema || migrations.some((hash) => !hashes.includes(hash))) {
    throw new StartError(
      'This backup was made by a different version of Sluice, which is newer or too old. Restore it with that version.',
    )
  }
  await migrate(database.db, schema)
  const [newer] = await client`select 1 from sluice_migrations where not hash = any(${hashes})`
  if (newer) throw new StartError(NOT_EMPTY)
}

const NOT_EMPTY =
  'The database is already in use. Restore into an empty database: set another DATABASE_URL or, without one, another DATA_DIR.'

async function fill(tx: TransactionSql, lines: AsyncGenerator<string>, file: string): Promise<number> {
  let tables = 0
  for (;;) {
    const { value: line, done } = await lines.next()
    if (done) throw new StartError(`${file} is incomplete: it ends too soon.`)
    if (line === LAST_LINE) return tables
    const start = readTableStart(line)
    if (!start) throw new StartError(`${file} is damaged: "${line.slice(0, 80)}" does not start a table.`)
    const [row] = await tx.unsafe(`select 1 from "${start.table}" limit 1`)
    if (row) throw new StartError(NOT_EMPTY)
    await fillTable(tx, start.statement, lines)
    tables += 1
  }
}

const PIECE_CHARACTERS = 64 * 1024

async function fillTable(
  tx: TransactionSql,
  statement: string,
  lines: AsyncGenerator<string>,
): Promise<void> {
  const table = await tx.unsafe(statement).writable()
  const written = finished(table)
  written.catch(() => {})
  let piece = ''
  for (;;) {
    const { value: line, done } = await lines.next()
    const ended = done || line === END_OF_TABLE
    if (!ended) piece += `${line}\n`
    if (piece.length >= PIECE_CHARACTERS || ended) {
      if (!table.write(piece)) await Promise.race([once(table, 'drain'), written])
      piece = ''
    }
    if (ended) break
  }
  table.end()
  await written
}
