import { sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { countBytes, deltas } from '../../workspace/usage/count-bytes.ts'
import { type Claim, type Fenced, lostLease, revoked, taken } from './lease-terms.ts'
import { type Advance, advance } from './offsets.ts'

/**
 * `waiting`: other lanes are incomplete. `mismatch`: the bytes of all lanes together do not have the declared checksum.
 * `complete`: the file is `transferring`, and its lease is held with `fence`, unless a hook decides on it first.
 */
export type LaneEnd =
  | { kind: 'waiting' }
  | { kind: 'mismatch'; expected: number; found: number }
  | { kind: 'complete'; isGated: boolean; lengthBytes: number; crc32: number; fence: number }

type File = {
  lanes: string
  isGated: boolean
  lengthBytes: number
  declaredCrc32: number | null
  fence: number
}

type Ending = { fileId: string; claim: Claim; nowMs: number; onMismatch(tx: Db): Promise<unknown> }

/**
 * Records a lane's last part and releases its lease. If every other lane is complete, the same transaction makes the
 * file `transferring`, and takes the file's lease with `claim`, or ends it with `onMismatch`.
 */
export function finishLane(
  db: Db,
  lease: Fenced,
  change: Omit<Advance, 'become'>,
  { fileId, claim, nowMs, onMismatch }: Ending,
): Promise<LaneEnd> {
  return db.transaction(async (tx) => {
    // Whatever ends a file locks it before its lanes. Lanes that record parts of the file do not wait for this lock.
    const [file] = await rows<File>(
      tx,
      sql`select lanes::text, decision is not null as "isGated", length_bytes as "lengthBytes", declared_crc32 as "declaredCrc32",
        lease_fence + 1 as fence from files where id = ${fileId}::uuid and status = 'uploading' for no key update`,
    )
    if (!file) throw lostLease()
    const { isGated, lengthBytes, declaredCrc32, fence } = file
    await advance(tx, lease, { ...change, laneOf: undefined, become: 'transferred' }, nowMs)
    const lanes = await rows<{ status: FileStatus; lengthBytes: number; crc32: number }>(
      tx,
      sql`select status, length_bytes as "lengthBytes", crc32 from files where id = any(${file.lanes}::uuid[]) order by first_byte`,
    )
    if (lanes.some(({ status }) => status !== 'transferred')) return { kind: 'waiting' }
    const crc32 = lanes.reduce((crc, lane) => combineCrc32(crc, lane.crc32, lane.lengthBytes), 0)
    if (declaredCrc32 !== null && declaredCrc32 !== crc32) {
      await onMismatch(tx)
      return { kind: 'mismatch', expected: declaredCrc32, found: crc32 }
    }
    await becomeTransferring(tx, fileId, { crc32, claim: isGated ? undefined : claim, nowMs })
    return { kind: 'complete', isGated, lengthBytes, crc32, fence }
  })
}

async function becomeTransferring(
  tx: Db,
  fileId: string,
  { crc32, claim, nowMs }: { crc32: number; claim: Claim | undefined; nowMs: number },
): Promise<void> {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  // If a hook decides on the file, Complete is not sent yet.
  const next = claim ? sql`complete_sent_at = ${now}, ${taken(claim)}` : sql`decision = 'asked'`
  await tx.execute(sql`
    with sent as (
      select max(recorded_parts) as parts from files where id = any((select lanes from files where id = ${fileId}::uuid)::uuid[])
    ), whole as (
      update files f set status = 'transferring', offset_bytes = f.length_bytes, counted_bytes = f.length_bytes,
        crc32 = ${crc32}::bigint, recorded_parts = sent.parts, recorded_bytes = f.length_bytes, last_byte_at = ${now}, ${next}
      from sent where f.id = ${fileId}::uuid returning f.id
    )
    update file_destinations d set status = 'transferring' from whole where d.file_id = whole.id and d.status <> 'failed'`)
}

/** Ends the lanes of a file that the transaction has just ended: their writers lose their leases, and their bytes go. */
export async function endLanes(
  tx: Db,
  { fileId, lanes, status }: { fileId: string; lanes: string; status: FileStatus },
  nowMs: number,
): Promise<void> {
  const ids = sql`${lanes}::uuid[]`
  await tx.execute(sql`
    with open as (
      select id, reserved_bytes, counted_bytes from files where id = any(${ids}) order by id for update
    ), ended as (
      update files f set status = ${status}, counted_bytes = f.offset_bytes, reserved_bytes = 0, ${revoked}
      from open where f.id = open.id returning f.id, ${deltas(sql`open`)}
    ), ${countBytes(sql`ended`, nowMs)}
    select 1`)
  await tx.execute(sql`
    with untailed as (delete from upload_tails where file_id = any(${ids})),
    sent as (select sum(offset_bytes)::bigint as bytes from files where id = any(${ids}))
    update files set offset_bytes = sent.bytes, counted_bytes = sent.bytes from sent where id = ${fileId}::uuid`)
}
