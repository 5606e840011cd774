import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isUuid } from '../../platform/kernel/ids.ts'
import type { CoreRuntime } from '../../platform/runtime.ts'
import { lockRepairable, type Repairable, requestRepair } from '../ledger/repair-requests.ts'
import { NO_SOURCE } from '../rules/file-status.ts'

/**
 * Requests a repair of a destination that is missing the object, so that a worker starts within seconds instead of at
 * the next scheduled attempt. Throws if no attempt could succeed.
 */
export async function repairDestination(
  { db, clock }: CoreRuntime,
  actor: Actor,
  to: { fileId: string; dataStoreId: string },
): Promise<void> {
  if (!isUuid(to.fileId) || !isUuid(to.dataStoreId)) throw notFound()
  await db.transaction(async (tx) => {
    const found = await lockRepairable(tx, actor.workspaceId, to)
    if (!found) throw notFound()
    const obstacle = obstacleTo(found)
    if (obstacle) throw new SluiceError('conflict', obstacle)
    await requestRepair(tx, to, clock.now())
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
