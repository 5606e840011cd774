import type { FoundAtEach } from '../ledger/transferred.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { statusOf } from '../rules/file-status.ts'
import type { UploadContext } from '../upload-context.ts'
import { type Judged, judgeByLookingUp } from './judge.ts'
import { recordTransferred } from './record-transferred.ts'
import { fail, type Outcome } from './settle.ts'

/** What was found at one of several destinations; undefined if the object is not there, or nobody can tell. */
export type Look = {
  dataStoreId: string
  required: boolean
  found: { etag: string | null } | undefined
}

/** Undefined if a required destination has no object. */
export function foundAtEach(looks: readonly Look[]): FoundAtEach | undefined {
  if (looks.some(({ required, found }) => required && !found)) return undefined
  const destinations = looks.map(({ dataStoreId, required, found }) => ({
    dataStoreId,
    required,
    status: found ? ('transferred' as const) : ('failed' as const),
    etag: found?.etag ?? null,
    reason: found ? null : ('unknown' as const),
    detail: null,
  }))
  return { status: statusOf(destinations) as FoundAtEach['status'], destinations }
}

/**
 * For a file with several destinations, one of which no longer has its multipart upload: either that was dropped, or the objects
 * were made and the database does not know. Throws if a required bucket does not say it now.
 */
export async function settleByLookingUpAtEach(
  context: UploadContext,
  upload: Pick<Upload, 'fileId' | 'lease' | 'destinations' | 'progress'>,
  fault: unknown,
): Promise<Outcome> {
  const { fileId, lease, destinations, progress } = upload
  const { lengthBytes } = progress
  const judged = await Promise.all(
    destinations.map(async (destination) => ({
      destination,
      judged: await lookAt(destination, { fileId, lease, lengthBytes }, fault),
    })),
  )
  const missing = judged.find(({ destination, judged }) => destination.required && judged?.kind === 'failed')
  if (missing?.judged?.kind === 'failed') {
    await fail(context, upload, missing.judged.end)
    return { kind: 'failed', error: missing.judged.error }
  }
  const several = foundAtEach(
    judged.map(({ destination: { dataStoreId, required }, judged }) => ({
      dataStoreId,
      required,
      found: judged?.kind === 'stored' && 'found' in judged.stored ? judged.stored.found : undefined,
    })),
  )
  const recording = recordTransferred(
    context,
    lease,
    { found: { etag: null, several: several! } },
    { lengthBytes },
  )
  return (await lease.whileHeld(recording)) ? { kind: 'transferred' } : { kind: 'left' }
}

/** One of best effort that does not answer has no say. */
async function lookAt(
  destination: Destination,
  { fileId, lease, lengthBytes }: { fileId: string; lease: Upload['lease']; lengthBytes: number | null },
  fault: unknown,
): Promise<Judged | undefined> {
  if (!destination.isOpen) return undefined
  const looking = judgeByLookingUp({ fileId, lease, destination, lengthBytes }, fault)
  return destination.required ? looking : looking.catch(() => undefined)
}
