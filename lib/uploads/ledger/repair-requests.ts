import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import type { DestinationState } from '../rules/file-status.ts'
import { isSource, type RepairClaim } from './destination-repairs.ts'

/** A file's destination whose repair was requested manually. */
export type Repairable = {
  filename: string
  fileStatus: FileStatus
  status: DestinationState['status']
  isTurnedOff: boolean
  hasSource: boolean
}

/**
 * Locks a file's destination; undefined if the workspace has no such file, or the file has no such destination. The
 * lock on the file is weak enough that a worker that already holds the destination's lock can still write to the file's
 * timeline.
 */
export async function lockRepairable(
  tx: Db,
  workspaceId: string,
  { fileId, dataStoreId }: Omit<RepairClaim, 'claim'>,
): Promise<Repairable | undefined> {
  const [found] = await rows<Repairable>(
    tx,
    sql`select f.filename, f.status as "fileStatus", c.status,
        exists (select from data_stores t where t.id = c.data_store_id and (t.turned_off_at is not null or t.deleted_at is not null)) as "isTurnedOff",
        exists (select from file_destinations d join data_stores ds on ds.id = d.data_store_id
          where d.file_id = c.file_id and ${isSource}) as "hasSource"
      from files f join file_destinations c on c.file_id = f.id
      where f.id = ${fileId}::uuid and f.workspace_id = ${workspaceId}::uuid and f.erased_at is null
        and c.data_store_id = ${dataStoreId}::uuid for no key update of f, c`,
  )
  return found
}

/** Makes the next attempt due now, and restarts the retry schedule. An attempt in progress continues. */
export async function requestRepair(
  tx: Db,
  { fileId, dataStoreId }: Omit<RepairClaim, 'claim'>,
  nowMs: number,
): Promise<void> {
  await rows(
    tx,
    sql`update file_destinations set repair_at = ${new Date(nowMs).toISOString()}::timestamptz, repair_attempts = 0
      where file_id = ${fileId}::uuid and data_store_id = ${dataStoreId}::uuid`,
  )
}
