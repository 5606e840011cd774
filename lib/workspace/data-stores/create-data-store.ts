import { dataStores } from '#drizzle/schema/index.ts'
import { type Actor, recordAudit } from '../../identity/audit/record-audit.ts'
import { takeCreation } from '../../identity/take-creation.ts'
import { uuidv7 } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { sealsForColumns } from '../../platform/vault.ts'
import { chooseCredentials, sealCredentials } from './credentials.ts'
import { type DataStore, type DataStoreInput, toDataStore } from './data-store.ts'
import { assertPossible } from './federation.ts'
import { resolvePlace } from './resolve-place.ts'

export async function createDataStore(
  { db, clock, vault, config }: Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>,
  actor: Actor,
  input: DataStoreInput,
): Promise<DataStore> {
  const place = resolvePlace(input, config.allowedPrivateHosts)
  const credentials = chooseCredentials(input.provider, input)
  assertPossible(config, credentials, place)
  const id = uuidv7(clock.now())
  const now = new Date(clock.now())
  return db.transaction(async (tx) => {
    await takeCreation({ db: tx, clock }, actor, 'Data Stores')
    const seal = await sealsForColumns(tx, vault)
    const [row] = await tx
      .insert(dataStores)
      .values({
        id,
        workspaceId: actor.workspaceId,
        name: input.name,
        provider: input.provider,
        ...place,
        bucket: input.bucket,
        prefix: input.prefix ?? '',
        ...sealCredentials(seal, id, credentials),
        storageClass: input.storageClass ?? null,
        encryption: input.encryption ?? null,
        createdAt: now,
        updatedAt: now,
      })
      .returning()
    const entry = { action: 'data_store.created', subjectId: id, subjectLabel: input.name }
    await recordAudit({ db: tx, clock }, actor, entry)
    return toDataStore(row!, { vault, config })
  })
}
