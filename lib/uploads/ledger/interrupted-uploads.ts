import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

const BATCH = 100

/** A condition on a row of `files`: nobody is writing it, and bytes of it are missing. */
export const lacksBytes: SQL = sql`(lease_until is null or lease_until < now())
  and offset_bytes is distinct from length_bytes`

/** Uploads that were to arrive by a single request, which is over. */
export async function findInterrupted(db: Db): Promise<string[]> {
  const found = await rows<{ id: string }>(
    db,
    sql`select id from files where status = 'uploading' and protocol = 'http' and ${lacksBytes} order by id limit ${BATCH}::int`,
  )
  return found.map(({ id }) => id)
}
