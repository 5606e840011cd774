import { type SQL, sql } from 'drizzle-orm'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'

const BATCH = 100
/** Its clients send a file in one request and cannot resume it. */
const NOT_RESUMABLE = 'http' satisfies FileProtocol

/** A condition on a row of `files`: nobody is writing it, and some of its bytes are missing. */
export const lacksBytes: SQL = sql`(lease_until is null or lease_until < now())
  and offset_bytes is distinct from length_bytes`

/** Unfinished uploads whose only request has ended. */
export async function findInterrupted(db: Db): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select id from files where status = 'uploading' and protocol = ${NOT_RESUMABLE} and ${lacksBytes} order by id limit ${BATCH}::int`,
  )
  return found.map(({ id }) => id)
}
