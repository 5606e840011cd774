import { eq } from 'drizzle-orm'
import { dataStores } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { applyChanges, isElsewhere } from './apply-changes.ts'
import { countUploadsUnderWay, uploads } from './count-uploads-under-way.ts'
import {
  accessKeyPlace,
  type DataStore,
  type DataStoreChanges,
  secretKeyPlace,
  toDataStore,
} from './data-store.ts'
import { findDataStore } from './find-data-store.ts'

/** What a check found is about the place and keys of then. */
const UNCHECKED = { check: null, mayAbort: false, mayRead: false, mayDelete: false }

type Needs = Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>

export async function updateDataStore(
  { db, clock, vault, config }: Needs,
  actor: Actor,
  id: string,
  changes: DataStoreChanges,
): Promise<DataStore> {
  return db.transaction(async (tx) => {
    // Before the row is locked, in the order of rotate-keys.
    const seal = await sealsForColumns(tx, vault)
    const before = await findDataStore(tx, actor, id, 'update')
    const after = applyChanges(before, changes, config.allowedPrivateHosts)
    const moves = isElsewhere(before, after)
    if (moves) await assertIdle(tx, id)
    const { accessKeyId, secretAccessKey } = changes
    const [row] = await tx
      .update(dataStores)
      .set({
        ...after,
        ...(accessKeyId !== undefined && { accessKeyIdEncrypted: seal(accessKeyId, accessKeyPlace(id)) }),
        ...(secretAccessKey !== undefined && {
          secretAccessKeyEncrypted: seal(secretAccessKey, secretKeyPlace(id)),
        }),
        ...(Object.keys(changes).some((field) => field !== 'name') && UNCHECKED),
        ...(moves && { readyAt: null }),
        updatedAt: new Date(clock.now()),
      })
      .where(eq(dataStores.id, id))
      .returning()
    const detail = { fields: Object.keys(changes) }
    const entry = { action: 'data_store.updated', subjectId: id, subjectLabel: row!.name, detail }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toDataStore(row!, vault)
  })
}

async function assertIdle(tx: Needs['db'], id: string): Promise<void> {
  const underWay = await countUploadsUnderWay(tx, id)
  if (underWay === 0) return
  throw new SluiceError(
    'conflict',
    `${uploads(underWay)} under way to this bucket, so its place cannot change now. Create another Data Store, or wait until they end.`,
  )
}
