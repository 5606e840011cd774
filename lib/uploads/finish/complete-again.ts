import { withLease } from '../lease/leases.ts'
import { currentOffset } from '../ledger/offsets.ts'
import { readParts } from '../ledger/parts.ts'
import { declareAgain, takeForRepair } from '../ledger/repair.ts'
import type { Destination } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import { type Assembly, isAcknowledged } from './complete.ts'
import { settle } from './settle.ts'

/** A file whose client knows that all its bytes are there, while its object is still being made. */
type Unmade = Pick<Assembly, 'fileId' | 'bytes' | 'crc32'> & {
  destination: Pick<Destination, 'bucket' | 'key' | 'mayRead' | 'position' | 'multipartId'>
}

/**
 * Remembers how to make the object. A database that was promoted without the last commits may have the file as
 * unfinished, and its client will not come back.
 */
export async function rememberUnmade(context: UploadContext, unmade: Unmade): Promise<void> {
  const { database, ...others } = context
  const { fileId, bytes, crc32 } = unmade
  const { bucket, key, mayRead, position, multipartId } = unmade.destination
  const parts = await readParts(context.db, fileId, position)
  if (multipartId === null || !parts.every(isAcknowledged)) return
  database.recent.note('end', async (db) => {
    const found = { ...others, database, db }
    const file = await currentOffset(db, fileId)
    if (!file) throw new Error(`${fileId} has no record yet.`)
    if (file.status !== 'uploading') return 'is there'
    const outcome = await withLease(
      found,
      fileId,
      async (lease) => {
        await declareAgain(db, lease, { lengthBytes: bytes, crc32 })
        const attempt = {
          fileId,
          lease,
          lengthBytes: bytes,
          crc32,
          destination: { bucket, key, mayRead },
          sentBefore: true,
        }
        const options = { signal: lease.signal, repeated: true }
        const completing = bucket.completeMultipart({ key, multipartId }, { parts, bytes, crc32 }, options)
        return settle(
          found,
          attempt,
          'complete',
          completing.then(({ etag }) => ({ found: { etag } })),
        )
      },
      takeForRepair,
    )
    if (outcome === undefined || outcome.kind === 'left') throw new Error(`${fileId} has no object yet.`)
    return 'made again'
  })
}
