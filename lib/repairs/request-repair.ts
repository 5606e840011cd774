import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../identity/audit/record-audit.ts'
import { type Db, rows } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { isUuid } from '../platform/kernel/ids.ts'
import type { CoreRuntime } from '../platform/runtime.ts'
import type { DestinationState } from '../uploads/rules/file-status.ts'
import { isSource } from './repair-claims.ts'

/** Why nothing can be copied to a destination, as shown on the file page and in `reasonDetail`. */
export const NO_SOURCE =
  'The destination cannot be repaired: no destination that has the object can be read. Grant s3:GetObject to the access key of one of them, then check its Data Store.'

type Place = { fileId: string; dataStoreId: string }

/**
 * Requests a repair of a destination that is missing the object, so that a worker starts within seconds instead of at
 * the next scheduled attempt. Throws if no attempt could succeed.
 */
export async function requestRepair({ db, clock }: CoreRuntime, actor: Actor, to: Place): Promise<void> {
  if (!isUuid(to.fileId) || !isUuid(to.dataStoreId)) throw notFound()
  await db.transaction(async (tx) => {
    const found = await lockRepairable(tx, actor.workspaceId, to)
    if (!found) throw notFound()
    const obstacle = obstacleTo(found)
    if (obstacle) throw new SluiceError('conflict', obstacle)
    await makeDue(tx, to, clock.now())
    await recordAudit({ db: tx, clock }, actor, {
      action: 'file.repair_requested',
      subjectId: to.fileId,
      subjectLabel: found.filename,
      detail: { destinationId: to.dataStoreId },
    })
  })
}

const notFound = () =>
  new SluiceError('not_found', 'There is no such file, or the file has no such destination.')

function obstacleTo({ fileStatus, status, isTurnedOff, hasSource }: Repairable): string | undefined {
  if (status === 'transferred') return 'This destination already has the object.'
  if (fileStatus !== 'partially_transferred')
    return `The file is ${fileStatus}. Only a file that is partially_transferred can be repaired.`
  if (isTurnedOff) return 'The Data Store is turned off. Switch it on again first.'
  return hasSource ? undefined : NO_SOURCE
}

/** A file's destination whose repair was requested manually. */
type Repairable = {
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
async function lockRepairable(
  tx: Db,
  workspaceId: string,
  { fileId, dataStoreId }: Place,
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
async function makeDue(tx: Db, { fileId, dataStoreId }: Place, nowMs: number): Promise<void> {
  await rows(
    tx,
    sql`update file_destinations set repair_at = ${new Date(nowMs).toISOString()}::timestamptz, repair_attempts = 0
      where file_id = ${fileId}::uuid and data_store_id = ${dataStoreId}::uuid`,
  )
}
