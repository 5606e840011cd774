import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { type Quota, quotaExceeded, reserved } from '../../workspace/usage/reserve.ts'
import { type Fenced, heldBy, lostLease } from './lease-terms.ts'

/** Quota is reserved when an upload of known length is created. These reserve it later. */
type Granting = { quota: Quota; nowMs: number }

/** Sets the length of an upload whose length was unknown, and reserves quota for the missing bytes. */
export async function recordLength(
  db: Db,
  lease: Fenced,
  { lengthBytes, restBytes }: { lengthBytes: number; restBytes: number },
  granting: Granting,
): Promise<void> {
  await db.transaction(async (tx) => {
    const [file] = await rows<{ workspaceId: string }>(
      tx,
      sql`update files set length_bytes = ${lengthBytes}::bigint, reserved_bytes = ${restBytes}::bigint,
          reserved_month = ${monthOf(granting.nowMs)}
        where id = ${lease.fileId}::uuid and ${heldBy(lease)} and length_bytes is null
          and status = 'uploading'
        returning workspace_id as "workspaceId"`,
    )
    if (!file) throw lostLease()
    await reserve(tx, file.workspaceId, restBytes, granting)
  })
}

/** Reserves the missing bytes of an upload again, after its reservation has lapsed. */
export async function reserveAgain(
  db: Db,
  lease: Fenced,
  { workspaceId, restBytes }: { workspaceId: string; restBytes: number },
  granting: Granting,
): Promise<void> {
  await db.transaction(async (tx) => {
    const renewed = await rows(
      tx,
      sql`update files set reserved_bytes = ${restBytes}::bigint, reserved_month = ${monthOf(granting.nowMs)}
        where id = ${lease.fileId}::uuid and ${heldBy(lease)}
          and status = 'uploading' and reserved_bytes = 0
        returning 1`,
    )
    if (renewed.length === 0) throw lostLease()
    await reserve(tx, workspaceId, restBytes, granting)
  })
}

async function reserve(
  tx: Db,
  workspaceId: string,
  bytes: number,
  { quota, nowMs }: Granting,
): Promise<void> {
  const granted = await rows(
    tx,
    sql`with ${reserved(workspaceId, bytes, quota, nowMs)} select 1 from reserved`,
  )
  if (granted.length === 0) throw await quotaExceeded(tx, workspaceId, { ...quota, bytes }, nowMs)
}
