import { SQL, type SQLChunk, StringChunk, sql } from 'drizzle-orm'
import { type PgDatabase, PgDialect, type PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type * as schema from '#drizzle/schema/index.ts'
import type { Primary } from './primary.ts'

/**
 * The database as the rest of Sluice sees it: PostgreSQL, whether Sluice runs it or was given its address. Functions
 * take a `Db`, which may also be a transaction, so that they can join their caller's transaction.
 */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>

/**
 * A URL, or the place where an embedded database listens. The host of a place may be the folder that contains the
 * socket.
 */
export type Address = string | Place
export type Place = { host: string; port: number; user: string; password: string; database: string }

export type DatabaseHandle = {
  /** `embedded`: no other process uses the database. */
  kind: 'embedded' | 'postgres'
  address: Address
  /** A direct connection, without a pooler, to the server that accepts writes. */
  direct: Pick<Primary, 'address' | 'socket'> & { isBesidePooler: boolean }
  db: Db
  /** Resolves if the database responds and accepts writes. */
  reach(): Promise<void>
  /** Detects a pooler and adapts to it; returns what to report about it. */
  usePooler(): Promise<string | undefined>
  /** Calls back with the payload of each NOTIFY, and once with null after a lost connection is restored. */
  listen(channel: string, onMessage: (payload: string | null) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

const dialect = new PgDialect({ casing: 'snake_case' })

/**
 * The rows of a handwritten statement, which PostgreSQL parses and plans once per connection. Keep the number of
 * distinct statements small, and pass everything that varies as a parameter. `?prepare=false` in the database address
 * turns this off.
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

/** Any name will do, because postgres.js gives the statement its own name. */
const PREPARED = 'prepared'

/** Sends a notification, which reaches every listener when the transaction commits, and none if it rolls back. */
export async function notify(db: Db, channel: string, payload: string): Promise<void> {
  await rows(db, sql`select pg_notify(${channel}, ${payload})`)
}

/**
 * Bytes as a parameter. postgres.js sends every parameter as text, and a bytea as hexadecimal, which is half again as
 * long as the Base64 used here and takes twice the CPU time: 500 ms instead of 240 ms for 80 MiB. PostgreSQL spends the
 * same time on either.
 */
export function byteaParam(bytes: Uint8Array): SQL {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return sql`decode(${view.toString('base64')}, 'base64')`
}

/**
 * The SQL and parameters of a handwritten statement, as Drizzle would build them but at a fraction of the cost, which
 * matters because some requests do little more than run statements. Undefined if the statement contains anything other
 * than text, parameters and other statements.
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

/** Compiles a fragment without parameters once, for statements that run with every request. */
export function fixed(fragment: SQL): SQL {
  const { sql: text, params } = compile(fragment) ?? dialect.sqlToQuery(fragment)
  if (params.length > 0) throw new Error('a fixed fragment has no parameters')
  return sql.raw(text)
}

/**
 * The NOTIFY channel that receives a workspace's id when something shown on that workspace's open pages has changed.
 */
export const LIVE_CHANNEL = 'sluice_live'
