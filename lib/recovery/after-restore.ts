import { seconds } from '../platform/kernel/clock.ts'
import type { ListedPage } from '../uploads/bucket-port.ts'
import { settleFound } from '../uploads/finish/settle.ts'
import { HeldLease, type Lease } from '../uploads/lease/held-lease.ts'
import { releaseLease, takeLease } from '../uploads/ledger/lease-rows.ts'
import { newClaim } from '../uploads/ledger/lease-terms.ts'
import { openBucketOf } from '../uploads/opening/open-bucket-of.ts'
import { classify } from '../uploads/rules/faults.ts'
import { UPLOAD_TERMS } from '../uploads/rules/upload-terms.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import type { SealedDataStore } from '../workspace/data-stores/sealed-data-store.ts'
import { knownKeys, listedDataStores, type Unfinished, unfinishedAfter } from './restored.ts'

type Context = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics' | 'openBucket'>

const AT_ONCE = 8
const LEASE_MS = seconds(30)
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * For a database restored from a backup: if the credentials allow reading, looks up the objects of uploads that the
 * database considers unfinished. An upload whose object is complete becomes transferred, with its event.
 */
export async function findFinished(context: Context): Promise<{ looked: number; found: string[] }> {
  const found: string[] = []
  let looked = 0
  for (let after: string | undefined = FIRST_ID; after; ) {
    const page = await unfinishedAfter(context.db, after)
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const some = page.slice(at, at + AT_ONCE)
      const are = await Promise.all(some.map((file) => record(context, file)))
      found.push(...some.filter((_, n) => are[n]).map(({ id }) => id))
    }
    looked += page.length
    after = page.at(-1)?.id
  }
  return { looked, found }
}

async function record(context: Context, file: Unfinished): Promise<boolean> {
  const { lengthBytes } = file
  const looks = await Promise.all(
    file.destinations.map(async (destination) => {
      const object = await find(context, destination)
      const isThere = object?.bytes === lengthBytes
      const { dataStore, required } = destination
      return { dataStoreId: dataStore.id, required, isThere, etag: isThere ? object!.etag : null }
    }),
  )
  if (looks.some(({ required, isThere }) => required && !isThere)) return false
  const found = { lengthBytes, destinations: looks }
  const done = await withLease(context, file.id, (lease) =>
    settleFound(context, { fileId: file.id, lease }, found),
  )
  return done !== undefined
}

/**
 * Runs `work` under the file's lease, while nodes may be running. Undefined if another writer holds the lease.
 */
async function withLease<Result>(
  { db, clock }: Pick<Context, 'db' | 'clock'>,
  fileId: string,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result | undefined> {
  const claim = newClaim(LEASE_MS)
  const taken = await takeLease({ db, clock }, claim, { rowId: fileId, tokenId: null, plan: undefined })
  if (!taken) return undefined
  const fenced = { ...claim, rowId: fileId, fence: taken.fence }
  const lease = new HeldLease(fenced, {
    terms: { ...UPLOAD_TERMS, leaseMs: LEASE_MS },
    forget() {},
    releaseRow: (end) => releaseLease({ db, clock }, fenced, end),
  })
  try {
    return await work(lease)
  } finally {
    await lease.release({ interrupted: true })
  }
}

/** If the bucket does not respond, its uploads are left unchanged. */
async function find(context: Context, { dataStore, required, key }: Unfinished['destinations'][number]) {
  if (!dataStore.mayRead) return undefined
  try {
    return await openBucketOf(context, { dataStore, required }).headObject(key)
  } catch (error) {
    if (classify(error, 'look up').blame !== 'bucket') throw error
    return undefined
  }
}

type UnknownObject = { key: string; bytes: number; modifiedAt: string }
export type Listed = { dataStoreId: string; name: string; workspaceId: string } & (
  | { listed: true; unknown: UnknownObject[] }
  | { listed: false; reason: string }
)
type Listing = Pick<Context, 'db' | 'openBucket'>

/** The folder for objects written by bucket checks. */
const PROBE_FOLDER = '.sluice-checks'
/**
 * There is no index on keys, so each query reads the rows of all files in the bucket. It therefore looks up many keys
 * together.
 */
const ASKED_TOGETHER = 5000

/**
 * Lists, for each bucket, the objects written since `sinceMs` that belong to no file in the database, or the reason why
 * the bucket cannot be listed.
 */
export async function listUnknown(context: Listing, sinceMs: number): Promise<Listed[]> {
  const all: Listed[] = []
  for (const { name, dataStore } of await listedDataStores(context.db)) {
    const of = { dataStoreId: dataStore.id, name, workspaceId: dataStore.workspaceId }
    try {
      all.push({ ...of, listed: true, unknown: await unknownIn(context, dataStore, sinceMs) })
    } catch (error) {
      if (classify(error, 'look up').blame !== 'bucket') throw error
      all.push({ ...of, listed: false, reason: (error as Error).message })
    }
  }
  return all
}

async function unknownIn(
  context: Listing,
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

/**
 * Returns the objects that belong to no file. This considers the files of all Data Stores, because several of them may
 * share one bucket.
 */
async function withoutFile(
  { db }: Listing,
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
