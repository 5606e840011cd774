import { sql } from 'drizzle-orm'
import { type Db, rows } from '../db/database.ts'
import { type DataStoreRow, dataStoreColumn } from '../tokens/authenticate-upload.ts'
import { bucketFault } from './bucket-port.ts'
import type { UploadContext } from './upload-context.ts'

type Pending = {
  fileId: string
  key: string
  multipartId: string | null
  /** A partial upload that was joined or has expired: its object goes. */
  piece: boolean
  dataStore: DataStoreRow
}

const BATCH = 20

/**
 * Clears away the parts of uploads that ended without an object, and the objects of partial uploads that were joined. Not all keys may do that, and none must: a
 * refusal ends the matter, and the bucket's lifecycle rule does the rest.
 */
export async function abortPending(context: UploadContext): Promise<number> {
  const pending = await claim(context.db)
  for (const { fileId, key, multipartId, piece, dataStore } of pending) {
    const bucket = context.openBucket(dataStore)
    try {
      if (piece) await bucket.deleteObject(key)
      else if (multipartId) await bucket.abortMultipart({ key, multipartId })
    } catch (error) {
      if (bucketFault(error) !== 'trouble')
        context.log.info({ fileId, err: error }, 'parts could not be cleared')
      else await putBack(context.db, fileId)
    }
  }
  return pending.length
}

/** Taken off the list first: two nodes may not both work on it, and a crash costs no more than a lifecycle rule. */
function claim(db: Db): Promise<Pending[]> {
  return rows<Pending>(
    db,
    sql`
    with due as (
      select d.file_id, d.data_store_id from file_destinations d
      where d.abort_pending limit ${BATCH}::int for update skip locked
    ), claimed as (
      update file_destinations d set abort_pending = false from due
      where d.file_id = due.file_id and d.data_store_id = due.data_store_id returning d.*
    )
    select c.file_id as "fileId", c.key, c.multipart_id as "multipartId",
      f.concat = 'partial' and f.status = 'transferred' as piece, ${dataStoreColumn()} as "dataStore"
    from claimed c join files f on f.id = c.file_id join data_stores ds on ds.id = c.data_store_id
    where ds.deleted_at is null`,
  )
}

async function putBack(db: Db, fileId: string): Promise<void> {
  await db.execute(sql`update file_destinations set abort_pending = true where file_id = ${fileId}::uuid`)
}
