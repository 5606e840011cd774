import { bucketRefusal } from '../bucket-port.ts'
import { endUpload } from '../endings/end-upload.ts'
import type { Lease } from '../lease/held-lease.ts'
import { heldBy, lostLease } from '../ledger/lease-terms.ts'
import type { UploadContext } from '../upload-context.ts'
import { type End, type Judged, judgeByLookingUp, type Wanted } from './judge.ts'
import { recordTransferred } from './record-transferred.ts'

/**
 * What became of an attempt. `left`: nothing is decided, and there will be another one. `lagging`: every required destination
 * has the object, and those of best effort have a moment longer.
 */
export type Outcome =
  | { kind: 'transferred' }
  | { kind: 'left' }
  | { kind: 'lagging'; concluded: Promise<unknown> }
  | { kind: 'failed'; error: unknown }

type Ledger = Pick<UploadContext, 'db' | 'clock' | 'emitEvents' | 'metrics'> &
  Partial<Pick<UploadContext, 'checkpoint'>>

/** For a multipart upload that the bucket no longer has. Throws if the bucket does not say now what became of it. */
export async function settleByLookingUp(
  context: Ledger,
  file: Wanted & { lease: Lease },
  fault: unknown,
): Promise<Outcome> {
  return recordOutcome(context, file, await judgeByLookingUp(file, fault))
}

/**
 * Records what an attempt came to, of a file with one destination. It is transferred, or failed, or left for another attempt.
 * The lease is released in each case.
 */
export async function recordOutcome(
  context: Ledger,
  file: Pick<Wanted, 'fileId' | 'lengthBytes' | 'crc32'> & { lease: Lease },
  judged: Judged,
): Promise<Outcome> {
  switch (judged.kind) {
    case 'stored':
      return recordStored(context, file, judged)
    case 'failed':
      await fail(context, file, judged.end)
      return { kind: 'failed', error: judged.error }
    default:
      return leave(file, judged)
  }
}

async function recordStored(
  context: Ledger,
  file: Pick<Wanted, 'fileId' | 'lengthBytes' | 'crc32'> & { lease: Lease },
  { stored, unlessRecorded }: Extract<Judged, { kind: 'stored' }>,
): Promise<Outcome> {
  const { lease } = file
  try {
    if (await lease.whileHeld(recordTransferred(context, lease, stored, file))) {
      context.checkpoint?.('transferred')
      return { kind: 'transferred' }
    }
  } catch (error) {
    return leave(file, { refusal: error, isCertain: false })
  }
  if (!unlessRecorded) return leave(file, { refusal: lostLease(), isCertain: false })
  await fail(context, file, unlessRecorded)
  return { kind: 'failed', error: lostLease() }
}

async function leave(
  { lease }: { lease: Lease },
  { refusal, isCertain }: { refusal: unknown; isCertain: boolean },
): Promise<Outcome> {
  const end = { interrupted: false, refusal: bucketRefusal(refusal), completeRefused: isCertain }
  await lease.release(end).catch(() => {})
  return { kind: 'left' }
}

/** Fails the file permanently, unless its lease was lost. */
export async function fail(
  context: Ledger,
  { fileId, lease }: { fileId: string; lease: Lease },
  end: End,
): Promise<void> {
  try {
    await endUpload(context, fileId, {
      ...end,
      status: 'failed',
      from: ['uploading', 'transferring'],
      provided: heldBy(lease),
    })
  } finally {
    lease.forget()
  }
}
