import { sql } from 'drizzle-orm'
import type { ProviderName } from '#drizzle/schema/index.ts'
import { type ObjectInConsole, objectInConsole } from '../../buckets/object-in-console.ts'
import { type Db, rows } from '../../platform/db/database.ts'

/** A destination's progress, and the options for repairing it if it has failed. */
export type DestinationProgress = {
  destinationId: string
  /** The Data Store's name. */
  name: string
  /** Bytes in recorded parts. */
  sentBytes: number
  /** The progress of a copy that is in progress or was interrupted; null if none was started. */
  repairedBytes: number | null
  /** When the next copy attempt is due. */
  repairAtMs: number | null
  isRepairing: boolean
  /** Destinations that have the object and can be read. */
  sources: string[]
  inConsole: ObjectInConsole | undefined
}

type Row = Omit<DestinationProgress, 'inConsole'> & {
  provider: ProviderName
  endpoint: string
  region: string
  bucket: string
  key: string
}

export async function readDestinationProgress(
  db: Db,
  fileId: string,
): Promise<ReadonlyMap<string, DestinationProgress>> {
  const found = await rows<Row>(
    db,
    sql`with d as (
      select f.*, s.name, s.provider, s.endpoint, s.region, s.may_read and s.deleted_at is null and s.turned_off_at is null as may_read from file_destinations f join data_stores s on s.id = f.data_store_id
      where f.file_id = ${fileId}::uuid
    )
    select d.data_store_id as "destinationId", d.name, d.provider, d.endpoint, d.region, d.bucket, d.key,
      (select coalesce(sum(p.size_bytes), 0)::float8 from file_parts p where p.file_id = d.file_id
        and p.etags[d.position] is not null
      ) as "sentBytes",
      (select sum(r.size_bytes)::float8 from repaired_parts r
        where r.file_id = d.file_id and r.data_store_id = d.data_store_id) as "repairedBytes",
      floor(extract(epoch from d.repair_at) * 1000)::float8 as "repairAtMs",
      coalesce(d.repair_until > now(), false) as "isRepairing",
      (select coalesce(json_agg(o.name order by o.position), '[]') from d o
        where o.status = 'transferred' and o.may_read) as sources
    from d`,
  )
  return new Map(
    found.map(({ provider, endpoint, region, bucket, key, ...progress }) => {
      const inConsole = objectInConsole({ provider, endpoint, region, bucket, key })
      return [progress.destinationId, { ...progress, inConsole }]
    }),
  )
}
