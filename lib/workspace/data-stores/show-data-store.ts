import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { type DataStore, toDataStore } from './data-store.ts'
import { findDataStore } from './find-data-store.ts'

export async function showDataStore(
  { db, vault }: Pick<Runtime, 'db' | 'vault'>,
  actor: Actor,
  id: string,
): Promise<DataStore> {
  return toDataStore(await findDataStore(db, actor, id), vault)
}
