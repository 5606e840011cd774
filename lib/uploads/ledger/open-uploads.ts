import { type SQL, sql } from 'drizzle-orm'
import type { FileStatus } from '#drizzle/schema/index.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { monthOf } from '../../workspace/usage/count-bytes.ts'
import { type Quota, quotaExceeded, reserved } from '../../workspace/usage/reserve.ts'
import { type Fenced, heldBy, isFree, lostLease } from './lease-terms.ts'

/** Undefined if the workspace has no such file. */
export async function readStatus(
  db: Db,
  { fileId, workspaceId }: { fileId: string; workspaceId: string },
): Promise<FileStatus | undefined> {
  const [file] = await rows<{ status: FileStatus }>(
    db,
    sql`select status from files where id = ${fileId}::uuid and workspace_id = ${workspaceId}::uuid`,
  )
  return file?.status
}

/** A condition on a row of `files`: nobody is writing it, and some of its bytes are missing. */
export const lacksBytes: SQL = sql`${isFree}
  and offset_bytes is distinct from length_bytes`

/**
 * Quota is reserved when an upload of known length is created. The functions with a parameter of this type reserve it
 * later.
 */
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
      sql`update files set length_bytes = ${lengthBytes}::bigint, length_came_last = ${restBytes === 0 || null}::boolean,
          reserved_bytes = ${restBytes}::bigint, reserved_month = ${monthOf(granting.nowMs)}
        where id = ${lease.rowId}::uuid and ${heldBy(lease)} and length_bytes is null
          and status = 'uploading'
        returning workspace_id as "workspaceId"`,
    )
    if (!file) throw lostLease()
    await reserve(tx, file.workspaceId, restBytes, granting)
  })
}

/** Reserves quota for an upload's missing bytes again, after its reservation has lapsed. */
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
        where id = ${lease.rowId}::uuid and ${heldBy(lease)}
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
