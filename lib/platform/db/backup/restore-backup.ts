import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { finished } from 'node:stream/promises'
import type { TransactionSql } from 'postgres'
import { StartError } from '../../kernel/errors.ts'
import { connect } from '../connect.ts'
import type { DatabaseHandle } from '../database.ts'
import { MIGRATIONS, migrate } from '../migrate.ts'
import { END_OF_TABLE, type Heading, LAST_LINE, readHeading, readTableStart } from './format.ts'

/** Fills an empty database from a backup, wholly or not at all, and brings it to this version's schema. */
export async function restoreBackup(database: DatabaseHandle, file: string): Promise<{ tables: number }> {
  const lines = linesOf(file)
  const heading = readHeading((await lines.next()).value)
  if (!heading) throw new StartError(`${file} is no backup of Sluice.`)
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

/** The schema that the backup was made of: later migrations may have to change its data. */
async function prepareSchema(
  database: DatabaseHandle,
  client: ReturnType<typeof connect>,
  { migrations }: Heading,
): Promise<void> {
  const schema = MIGRATIONS.slice(0, migrations.length)
  if (schema.length < migrations.length || schema.some(({ hash }) => !migrations.includes(hash))) {
    throw new StartError('This backup was made by a newer version of Sluice. Restore it with that one.')
  }
  await migrate(database.db, schema)
  const [newer] = await client`select 1 from sluice_migrations where not hash = any(${migrations})`
  if (newer) throw new StartError(NOT_EMPTY)
}

const NOT_EMPTY =
  'The database is in use already. Restore into an empty one: another DATABASE_URL or, without one, another DATA_DIR.'

async function fill(tx: TransactionSql, lines: AsyncGenerator<string>, file: string): Promise<number> {
  let tables = 0
  for (;;) {
    const { value: line, done } = await lines.next()
    if (done) throw new StartError(`${file} ends too soon: it was not written to its end.`)
    if (line === LAST_LINE) return tables
    const start = readTableStart(line)
    if (!start) throw new StartError(`${file} is damaged: "${line.slice(0, 80)}" does not begin a table.`)
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
