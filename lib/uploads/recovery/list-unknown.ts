import type { SealedDataStore } from '../../workspace/data-stores/sealed-data-store.ts'
import { bucketFault, type ListedPage } from '../bucket-port.ts'
import { knownKeys, listedDataStores } from '../ledger/known-objects.ts'
import type { UploadContext } from '../upload-context.ts'

type UnknownObject = { key: string; bytes: number; modifiedAt: string }
export type Listed = { dataStoreId: string; name: string; workspaceId: string } & (
  | { listed: true; unknown: UnknownObject[] }
  | { listed: false; reason: string }
)
type Context = Pick<UploadContext, 'db' | 'openBucket'>

/** The folder of the objects that bucket checks write. */
const PROBE_FOLDER = '.sluice-checks'
/** There is no index on keys, so each query reads all files of the bucket. */
const ASKED_TOGETHER = 5000

/** For each bucket that may be listed, the objects written since `sinceMs` that belong to no file in the database. */
export async function listUnknown(context: Context, sinceMs: number): Promise<Listed[]> {
  const all: Listed[] = []
  for (const { name, dataStore } of await listedDataStores(context.db)) {
    const of = { dataStoreId: dataStore.id, name, workspaceId: dataStore.workspaceId }
    try {
      all.push({ ...of, listed: true, unknown: await unknownIn(context, dataStore, sinceMs) })
    } catch (error) {
      if (!bucketFault(error)) throw error
      all.push({ ...of, listed: false, reason: (error as Error).message })
    }
  }
  return all
}

async function unknownIn(
  context: Context,
  store: SealedDataStore,
  sinceMs: number,
): Promise<UnknownObject[]> {
  const bucket = context.openBucket(store)
  const unknown: UnknownObject[] = []
  let recent: ListedPage['objects'] = []
  let from: string | null = null
  do {
    const { objects, next }: ListedPage = await bucket.listPage(store.prefix, from)
    recent.push(...objects.filter(({ key, modifiedMs }) => modifiedMs >= sinceMs && !isOfCheck(store, key)))
    from = next
    if (recent.length < ASKED_TOGETHER && from !== null) continue
    unknown.push(...(await withoutFile(context, store, recent)))
    recent = []
  } while (from !== null)
  return unknown
}

const isOfCheck = ({ prefix }: SealedDataStore, key: string) => key.startsWith(`${prefix}${PROBE_FOLDER}/`)

/** The objects that belong to no file of any Data Store: several may share one bucket. */
async function withoutFile(
  { db }: Context,
  { bucket }: SealedDataStore,
  objects: ListedPage['objects'],
): Promise<UnknownObject[]> {
  const known = await knownKeys(
    db,
    bucket,
    objects.map(({ key }) => key),
  )
  return objects
    .filter(({ key }) => !known.has(key))
    .map(({ key, bytes, modifiedMs }) => ({ key, bytes, modifiedAt: new Date(modifiedMs).toISOString() }))
}
