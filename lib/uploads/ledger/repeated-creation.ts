import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { violates } from '../../platform/db/faults.ts'
import type { Clock } from '../../platform/kernel/clock.ts'
import { erase, giveBackCount, recordEnd } from './endings.ts'
import type { NewUpload } from './insert-upload.ts'
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

/**
 * Does what creates an upload, unless a creation with the same key has made a file, whose id is returned instead. That
 * file is also looked for if the creation is refused, since the quota or the batch may have been used up by it.
 */
export async function oncePerKey<Made>(
  { db, clock }: { db: Db; clock: Clock },
  { key, asksReceiver }: { key: string | undefined; asksReceiver: boolean },
  create: () => Promise<Made>,
): Promise<Made | { earlierId: string }> {
  if (key === undefined) return create()
  let earlierId = asksReceiver ? await findCreated(db, key, clock.now()) : undefined
  while (!earlierId) {
    try {
      return await create()
    } catch (error) {
      earlierId = await findCreated(db, key, clock.now())
      if (!earlierId && !violates(error, 'creation_keys_pkey')) throw error
    }
  }
  return { earlierId }
}

/** If the file has ended without an object, and nobody has decided that, the key is free again. */
async function findCreated(db: Db, key: string, nowMs: number): Promise<string | undefined> {
  const [earlier] = await rows<{ fileId: string }>(
    db,
    sql`
    with key as (select * from creation_keys where id = ${key}::uuid for update),
    found as (
      select f.id from key join files f on f.id = key.file_id
      where f.erased_at is null and f.retired_at is null and (f.decision = 'rejected'
        or f.status in ('transferring', 'transferred', 'partially_transferred')
        or f.status = 'uploading' and f.expires_at > ${new Date(nowMs).toISOString()}::timestamptz)
    ), freed as (delete from creation_keys using key where creation_keys.id = key.id and not exists (select from found))
    select id as "fileId" from found`,
  )
  return earlier?.fileId
}
