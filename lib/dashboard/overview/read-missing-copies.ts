import { sql } from 'drizzle-orm'
import type { DestinationReason } from '#drizzle/schema/files.ts'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { MISSING_COPY } from '../../workspace/data-stores/missing-copies.ts'

/** Counting stops at this number, which is precise enough. */
const MOST_COUNTED = 1000

/** Files whose object is missing at one destination, for one reason. */
type MissingFor = {
  reason: DestinationReason
  files: number
  /** How many of these files will not be retried. */
  givenUp: number
  /** The bucket's response for the newest file. */
  detail: string | null
}
export type MissingCopies = {
  dataStoreId: string
  name: string
  files: number
  /** Whether there are more files than were counted. */
  isMore: boolean
  reasons: MissingFor[]
}

/**
 * Counts, for each destination and reason, the files that the destination is missing even though every required
 * destination has them. Destinations that are missing no files are omitted.
 */
export async function readMissingCopies(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
): Promise<MissingCopies[]> {
  const found = await rows<MissingFor & Pick<MissingCopies, 'dataStoreId' | 'name'>>(
    db,
    sql`select ds.id as "dataStoreId", ds.name, m.reason, count(*)::int as files,
        (count(*) filter (where m.repair_at is null))::int as "givenUp",
        (array_agg(m.reason_detail order by m.file_id desc))[1] as detail
      from data_stores ds cross join lateral (
        select d.file_id, d.reason, d.reason_detail, d.repair_at
        from file_destinations d join files f on f.id = d.file_id
        where d.data_store_id = ds.id and ${MISSING_COPY} and f.status = 'partially_transferred' and f.erased_at is null
        order by d.file_id desc limit ${MOST_COUNTED + 1}::int
      ) m
      where ds.workspace_id = ${workspaceId}::uuid and ds.deleted_at is null
      group by ds.id, m.reason order by ds.id, count(*) desc, m.reason`,
  )
  return [...Map.groupBy(found, ({ dataStoreId }) => dataStoreId).values()].map((ofStore) => {
    const { dataStoreId, name } = ofStore[0]!
    const files = ofStore.reduce((sum, one) => sum + one.files, 0)
    const reasons = ofStore.map(({ reason, files, givenUp, detail }) => ({ reason, files, givenUp, detail }))
    const isMore = files > MOST_COUNTED
    return { dataStoreId, name, files: Math.min(files, MOST_COUNTED), isMore, reasons }
  })
}
