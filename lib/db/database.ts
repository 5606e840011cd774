import { type SQL, sql } from 'drizzle-orm'
import type { PgDatabase, PgQueryResultHKT } from 'drizzle-orm/pg-core'
import type * as schema from '#drizzle/schema/index.ts'

/**
 * The database as the rest of Sluice sees it: the same on the embedded PGlite and on PostgreSQL.
 * A verb takes a `Db`, which is also what a transaction is, so that it can join its caller's.
 */
export type Db = PgDatabase<PgQueryResultHKT, typeof schema>

export type DatabaseHandle = {
  kind: 'embedded' | 'postgres'
  db: Db
  /** Calls back with the payload of each NOTIFY, and once more with null when the line was down and is back. */
  listen(channel: string, onMessage: (payload: string | null) => void): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** Rows of a hand-made statement; the two drivers answer `execute` in different shapes. */
export async function rows<Row extends Record<string, unknown>>(db: Db, query: SQL): Promise<Row[]> {
  const result = (await db.execute(query)) as unknown as Row[] | { rows: Row[] }
  return Array.isArray(result) ? [...result] : result.rows
}

/** Reaches every listener when the transaction commits, and nobody if it does not. */
export async function notify(db: Db, channel: string, payload: string): Promise<void> {
  await db.execute(sql`select pg_notify(${channel}, ${payload})`)
}

/** Bytes as a parameter: PGlite takes them ten times faster so than as a bytea of its own. */
export function byteaParam(bytes: Uint8Array): SQL {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return sql`decode(${view.toString('base64')}, 'base64')`
}
