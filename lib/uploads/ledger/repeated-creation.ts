import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { violates } from '../../platform/db/faults.ts'
import { erase, giveBackCount, recordEnd } from './endings.ts'
import type { Insertion, NewUpload } from './insert-upload.ts'
import { isFree, wasInterrupted } from './lease-terms.ts'

/** How many of the Sender's latest uploads are searched for an earlier creation. */
const LOOKED_THROUGH = 1000

/**
 * If a creation's response is lost or its node dies, the client creates the same file again, which a single-file token
 * would refuse. So the new upload takes the place of an earlier one that the same token created for the same file, if
 * no client has returned to the earlier one. The earlier upload leaves no record, unless some of its bytes were
 * counted. False if there is no such upload.
 */
export async function takePlace(
  { db: tx, emitEvents }: { db: Db; emitEvents(tx: Db, ...fileIds: string[]): Promise<void> },
  upload: NewUpload,
  nowMs: number,
): Promise<boolean> {
  const [earlier] = await rows<{ id: string }>(
    tx,
    sql`select f.id from files f
      where f.id in (select id from files where sender_id = ${upload.senderId}::uuid order by id desc limit ${LOOKED_THROUGH}::int)
        and f.id <> ${upload.fileId}::uuid and token_id = ${upload.tokenId}::uuid and status = 'uploading' and concat is null and lane_of is null
        and protocol = ${upload.protocol} and filename = ${upload.filename}
        and upload_metadata_header is not distinct from ${upload.uploadMetadataHeader}
        and length_bytes is not distinct from ${upload.lengthBytes}::bigint
        and lease_fence <= 1 and ${isFree} and (offset_bytes = 0 or ${wasInterrupted} and not exists (
          select from file_timeline t where t.file_id = f.id and t.kind = 'offset_asked'))
        and not exists (select from files lane where lane.id = any(f.lanes) and lane.lease_fence > 0)
      order by f.id limit 1 for update of f skip locked`,
  )
  if (!earlier) return false
  const end = {
    status: 'canceled',
    reason: 'The client sent the creation request again.',
    from: ['uploading'],
  } as const
  await recordEnd(tx, earlier.id, end, nowMs)
  if (!(await erase(tx, earlier.id, nowMs))) await emitEvents(tx, earlier.id)
  await giveBackCount(tx, earlier.id)
  return true
}

/** Returns the id of the file that the same creation has made before, if there is one. */
export type InsertUpload = (insertion: Insertion) => Promise<string | undefined>

/** Inserts an upload unless a creation with the same key has made a file, which is returned instead. */
export function oncePerKey(db: Db, insert: (insertion: Insertion) => Promise<void>): InsertUpload {
  return async (insertion) => {
    const { creationKey } = insertion.upload
    for (;;) {
      try {
        await insert(insertion)
        return undefined
      } catch (error) {
        if (!creationKey || !violates(error, 'creation_keys_pkey')) throw error
        const earlier = await findCreated(db, creationKey)
        if (earlier) return earlier
      }
    }
  }
}

/** If the file has ended without an object, and nobody has decided that, the key is free again. */
async function findCreated(db: Db, creationKey: string): Promise<string | undefined> {
  const [earlier] = await rows<{ fileId: string }>(
    db,
    sql`
    with key as (select * from creation_keys where id = ${creationKey}::uuid for update),
    found as (
      select f.id from key join files f on f.id = key.file_id
      where f.erased_at is null and (f.decision = 'rejected'
        or f.status in ('uploading', 'transferring', 'transferred', 'partially_transferred'))
    ), freed as (delete from creation_keys using key where creation_keys.id = key.id and not exists (select from found))
    select id as "fileId" from found`,
  )
  return earlier?.fileId
}
