import { randomUUID } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { rows } from '../../platform/db/database.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { type SealedDataStore, sealedDataStoreColumn } from '../../workspace/data-stores/sealed-data-store.ts'
import { bucketFault } from '../bucket-port.ts'
import { releaseLease } from '../ledger/release-lease.ts'
import { takeLease } from '../ledger/take-lease.ts'
import { recordArrival } from '../record-arrival.ts'
import type { UploadContext } from '../upload-context.ts'

type Unfinished = { id: string; key: string; lengthBytes: number; dataStore: SealedDataStore }
type Context = Pick<UploadContext, 'db' | 'clock' | 'announce' | 'metrics' | 'openBucket'>

const PAGE = 100
const AT_ONCE = 8
const LEASE_MS = seconds(30)
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * Looks in the buckets whose keys may read for the objects of uploads that the database takes for unfinished, as one does
 * that was restored from a backup. What is there whole is transferred, and announced.
 */
export async function findFinished(context: Context): Promise<{ looked: number; found: string[] }> {
  const found: string[] = []
  let looked = 0
  for (let after: string | undefined = FIRST_ID; after; ) {
    const page = await unfinishedAfter(context, after)
    for (let at = 0; at < page.length; at += AT_ONCE) {
      const some = page.slice(at, at + AT_ONCE)
      const are = await Promise.all(some.map((file) => settle(context, file)))
      found.push(...some.filter((_, n) => are[n]).map(({ id }) => id))
    }
    looked += page.length
    after = page.at(-1)?.id
  }
  return { looked, found }
}

function unfinishedAfter({ db }: Context, after: string): Promise<Unfinished[]> {
  return rows<Unfinished>(
    db,
    sql`select f.id, d.key, f.length_bytes as "lengthBytes", ${sealedDataStoreColumn()} as "dataStore"
      from files f join file_destinations d on d.file_id = f.id
        join data_stores ds on ds.id = d.data_store_id and ds.deleted_at is null and ds.may_read
      where f.id > ${after}::uuid and f.status = 'uploading' and f.length_bytes is not null
        and f.concat is distinct from 'partial' and (f.lease_until is null or f.lease_until < now())
      order by f.id limit ${PAGE}::int`,
  )
}

async function settle(context: Context, file: Unfinished): Promise<boolean> {
  const { db } = context
  const object = await find(context, file)
  if (object?.bytes !== file.lengthBytes) return false
  const fileId = file.id
  const taken = await takeLease(db, { holder: randomUUID(), leaseMs: LEASE_MS }, { fileId, ...NOBODY })
  if (!taken) return false
  const lease = { fileId, fence: taken.fence }
  const isMarked = await recordArrival(context, lease, { found: object })
  if (!isMarked) await releaseLease(context, lease, { interrupted: true })
  return isMarked
}

const NOBODY = { tokenId: null, plan: undefined }

/** A bucket that does not answer is not asked by this again: its uploads go on as they are. */
async function find({ openBucket }: Context, { dataStore, key }: Unfinished) {
  try {
    return await openBucket(dataStore).headObject(key)
  } catch (error) {
    if (bucketFault(error)) return undefined
    throw error
  }
}
