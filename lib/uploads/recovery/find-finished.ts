import { bucketFault } from '../bucket-port.ts'
import { recordTransferred } from '../finish/record-transferred.ts'
import { withLease } from '../lease/with-lease.ts'
import { type Unfinished, unfinishedAfter } from '../ledger/unfinished-uploads.ts'
import type { UploadContext } from '../upload-context.ts'

type Context = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics' | 'openBucket'>

const AT_ONCE = 8
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/**
 * For a database restored from a backup: where the credentials may read, looks up the objects of uploads that the
 * database has as unfinished. An upload whose object is complete becomes transferred, with its event.
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
  const object = await find(context, file)
  if (object?.bytes !== file.lengthBytes) return false
  const isMarked = await withLease(context, file.id, (lease) =>
    recordTransferred(context, lease, { found: object }),
  )
  return isMarked ?? false
}

/** If the bucket does not answer, its uploads stay as they are. */
async function find({ openBucket }: Context, { dataStore, key }: Unfinished) {
  try {
    return await openBucket(dataStore).headObject(key)
  } catch (error) {
    if (bucketFault(error)) return undefined
    throw error
  }
}
