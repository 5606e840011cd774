import { SQL, type SQLChunk, StringChunk, sql } from 'drizzle-orm'
import { type PgDatabase, PgDialect, type PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type * as schema from '#drizzle/schema/index.ts'
import type { Primary } from './primary.ts'
import type { RecentCommits } from './recent-commits.ts'

/**
 * The database as the rest of Sluice sees it: PostgreSQL, whether Sluice runs it itself or was given its address.
 * A verb takes a `Db`, which is also what a transaction is, so that it can join its caller's.
 */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>

/** A URL, or where an embedded one listens: a folder with its socket is a host, too. */
export type Address = string | Place
export type Place = { host: string; port: number; user: string; password: string; database: string }

export type DatabaseHandle = {
  /** `embedded` belongs to this process alone. */
  kind: 'embedded' | 'postgres'
  address: Address
  /** The way without a pooler in between, to the server that takes writes. */
  direct: Pick<Primary, 'address' | 'socket'> & { isBesidePooler: boolean }
  db: Db
  /** Resolves if it answers and takes writes. */
  reach(): Promise<void>
  /** Looks for a pooler in between, and does what it needs; the answer is what to tell of it. */
  usePooler(): Promise<string | undefined>
  /** What a server that was promoted without it has to be told again. */
  recent: RecentCommits
  /** Calls back with the payload of each NOTIFY, and once more with null when the line was down and is back. */
  listen(channel: string, onMessage: (payload: string | null) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

const dialect = new PgDialect({ casing: 'snake_case' })

/**
 * Rows of a hand-made statement, which PostgreSQL parses and plans once for each connection: its text must be one of
 * few, with all that varies in its parameters. `?prepare=false` in the database's address turns that off.
 */
export async function rows<Row extends Record<string, unknown>>(db: Db, query: SQL): Promise<Row[]> {
  const statement = db._.session.prepareQuery(
    compile(query) ?? dialect.sqlToQuery(query),
    undefined,
    PREPARED,
    false,
  )
  return [...((await statement.execute()) as unknown as Row[])]
}

/** Any name does: postgres.js gives the statement one of its own. */
const PREPARED = 'prepared'

/** Reaches every listener when the transaction commits, and nobody if it does not. */
export async function notify(db: Db, channel: string, payload: string): Promise<void> {
  await rows(db, sql`select pg_notify(${channel}, ${payload})`)
}

/**
 * Bytes as a parameter. postgres.js sends every parameter as text, and a bytea in hexadecimal, which is half again as long and
 * takes twice the processor: 500 ms for 80 MiB, where this takes 240. PostgreSQL spends the same on both.
 */
export function byteaParam(bytes: Uint8Array): SQL {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return sql`decode(${view.toString('base64')}, 'base64')`
}

/**
 * The text and parameters of a hand-made statement, as Drizzle makes them but at a fraction of the cost, which shows where
 * a request is little more than its statements. Undefined if it holds more than text, parameters and other statements.
 */
export function compile(statement: SQL): { sql: string; params: unknown[] } | undefined {
  const params: unknown[] = []
  let text = ''
  const add = (chunks: readonly SQLChunk[]): boolean =>
    chunks.every((chunk) => {
      if (chunk instanceof StringChunk) text += chunk.value.join('')
      else if (chunk instanceof SQL) return add(chunk.queryChunks)
      else if (chunk === undefined || (chunk !== null && typeof chunk === 'object')) return false
      else text += `$${params.push(chunk)}`
      return true
    })
  return add(statement.queryChunks) ? { sql: text, params } : undefined
}

/** NOTIFY on it, with a workspace's id, when something changed that its open pages show. */
export const LIVE_CHANNEL = 'sluice_live'
