import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { type Insertion, insertsUploads } from './insert-upload.ts'
import { type Claim, type Fenced, heldBy, isFree, taken } from './lease-terms.ts'
import { currentOffset } from './offsets.ts'

/**
 * For a database that was promoted without the last commits of its primary: nodes that live on make up for those that
 * they remember. What a writer has sent to the bucket under numbers that are unknown again must not be mistaken for what
 * the next writer sends, so that one starts above them.
 */

/** Parts that one request may have bound since the last commit that is left. */
const MOST_UNKNOWN_PARTS = 64

/**
 * Ends the leases of a process whose writers have stopped: also those that were over, where their release was lost. Where the
 * taking of one was lost, nobody else knows of the parts that its writer may still have on their way.
 */
export async function dropLeases(
  db: Db,
  { held, over }: { held: readonly Fenced[]; over: readonly Fenced[] },
): Promise<void> {
  const listed = (leases: readonly Fenced[], isHeld: boolean) =>
    leases.map(({ fileId, claim }) => ({ id: fileId, claim, held: isHeld }))
  const dropped = JSON.stringify([...listed(over, false), ...listed(held, true)])
  const from = sql`from jsonb_to_recordset(${dropped}::jsonb) as dropped(id uuid, claim text, held boolean)
    where f.id = dropped.id`
  const isOwn = heldBy({ claim: sql`dropped.claim` })
  const ended = sql`lease_until = now() - interval '1 second'`
  await rows(
    db,
    sql`update files f set ${ended}, ${startingAbove} ${from} and f.status = 'uploading'
      and (${isOwn} or dropped.held and ${isFree})`,
  )
  await rows(db, sql`update files f set ${ended} ${from} and f.status = 'transferring' and ${isOwn}`)
}

const startingAbove = sql`bound_ends = '{}', bound_fence = null,
    recorded_parts = greatest(f.reserved_part_number, f.recorded_parts) + ${MOST_UNKNOWN_PARTS}::int,
    reserved_part_number = greatest(f.reserved_part_number, f.recorded_parts) + ${MOST_UNKNOWN_PARTS}::int`

/** Takes the lease of a file that nobody writes, also where only its object was missing. */
export async function takeForRepair(
  db: Db,
  claim: Claim,
  fileId: string,
): Promise<{ fence: number } | undefined> {
  const [row] = await rows<{ fence: number }>(
    db,
    sql`update files f set ${taken(claim)}
      where id = ${fileId}::uuid and status in ('uploading', 'transferring') and ${isFree}
      returning lease_fence as fence`,
  )
  return row
}

/** The length that came with the last bytes. */
export async function declareAgain(db: Db, lease: Fenced, lengthBytes: number): Promise<void> {
  await rows(
    db,
    sql`update files set length_bytes = ${lengthBytes}::bigint
      where id = ${lease.fileId}::uuid and ${heldBy(lease)} and length_bytes is null`,
  )
}

/** A client has its address; its creator may have sent parts. */
export async function createAgain(
  deps: Parameters<typeof insertsUploads>[0],
  { first, upload, ...insertion }: Insertion,
): Promise<'made again' | 'is there'> {
  const { db } = deps
  const { fileId } = upload
  if (await currentOffset(db, fileId)) return 'is there'
  // Its token had room for it.
  await insertsUploads(deps)({ ...insertion, upload: { ...upload, maxFiles: null } })
  if (first)
    await rows(db, sql`update files f set ${startingAbove} where id = ${fileId}::uuid and lease_fence = 0`)
  return 'made again'
}
