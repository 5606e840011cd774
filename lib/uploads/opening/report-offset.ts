import { type LaneRow, readLanes } from '../ledger/lanes.ts'
import { currentOffset, markInterrupted } from '../ledger/offsets.ts'
import type { UploadRow } from '../ledger/upload-rows.ts'
import { toldOffset } from '../rules/decision.ts'
import type { UploadContext } from '../upload-context.ts'

/** The offset and status to report, for a writer that has lost its lease. */
export async function readProgress(
  { db }: Pick<UploadContext, 'db'>,
  fileId: string,
): Promise<Pick<UploadRow, 'offsetBytes' | 'status'> | undefined> {
  const now = await currentOffset(db, fileId)
  return now && { offsetBytes: toldOffset(now), status: now.status }
}

/** A client that requests an unfinished upload's offset was interrupted: see `markInterrupted`. */
export async function noteOffsetRequest({ db, clock }: UploadContext, upload: UploadRow): Promise<void> {
  const { id, status, offsetBytes, interrupted, lanes } = upload
  if (status !== 'uploading' || lanes || offsetBytes === 0 || interrupted) return
  await markInterrupted(db, [id], clock.now())
}

/**
 * The lanes of a file, in order, for a client that continues them. Their writers are asked to stop first, so that the
 * offsets are exact. Undefined if the file has one writer.
 */
export async function lanesOf(
  { db, clock, leases }: Pick<UploadContext, 'db' | 'clock' | 'leases'>,
  { lanes }: Pick<UploadRow, 'lanes'>,
): Promise<LaneRow[] | undefined> {
  if (!lanes) return undefined
  await Promise.all(lanes.map((lane) => leases.incoming.passed(lane)))
  const held = (await readLanes(db, lanes)).filter(({ leased }) => leased)
  await Promise.all(held.map(({ id, fence }) => leases.waitUntilFree({ rowId: id, fence })))
  await markInterrupted(db, lanes, clock.now())
  return readLanes(db, lanes)
}
