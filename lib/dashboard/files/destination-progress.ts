import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'

/** How far a destination of a file is. */
export type DestinationProgress = {
  destinationId: string
  /** Of its Data Store. */
  name: string
  /** Bytes in recorded parts. */
  sentBytes: number
}

export async function readDestinationProgress(
  db: Db,
  fileId: string,
): Promise<ReadonlyMap<string, DestinationProgress>> {
  const found = await rows<DestinationProgress>(
    db,
    sql`select d.data_store_id as "destinationId", s.name,
        (select coalesce(sum(p.size_bytes), 0)::float8 from file_parts p where p.file_id = d.file_id
          and case when coalesce(d.position, 1) = 1 then p.etag else p.further_etags[d.position - 1] end is not null
        ) as "sentBytes"
      from file_destinations d join data_stores s on s.id = d.data_store_id where d.file_id = ${fileId}::uuid`,
  )
  return new Map(found.map((one) => [one.destinationId, one]))
}
