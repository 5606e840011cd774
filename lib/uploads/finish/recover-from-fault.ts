import { bucketRefusal } from '../bucket-port.ts'
import type { FoundAtEach } from '../ledger/transferred.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { classify, errorForClient } from '../rules/faults.ts'
import { statusOf } from '../rules/file-status.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { type Judged, judgeByLookingUp } from './judge.ts'
import { recordTransferred } from './record-transferred.ts'
import { fail, type Outcome, settleByLookingUp } from './settle.ts'

type Recovered = { offsetBytes: number; state: 'transferring' | FoundAtEach['status'] }

/**
 * Ends a request in which a part could not be made durable. Confirmed bytes are kept, and bytes after the fault are
 * not. After a transient bucket error, the part is stored as a tail: if it was the last part, every byte is durable,
 * and the object is created later; if not, the client continues after it. For an uncommitted atomic request, nothing is
 * stored. If the object turns out to exist, the file is transferred. Otherwise this throws the error for the client.
 * Without `mayFinish`, the upload continues, whatever its length.
 */
export async function recoverFromFault(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  { fault, mayFinish }: { fault: unknown; mayFinish: boolean },
): Promise<Recovered> {
  const { lease, destinations, progress } = upload
  // If no part was sent, the failed request was a single PutObject.
  const hasParts = destinations.some(({ multipartId }) => multipartId !== null) || parts.sentParts > 0
  const step = hasParts ? 'part' : 'put'
  const { verdict } = classify(fault, step)
  let error = fault
  try {
    if (lease.signal.aborted) throw lease.signal.reason
    if (verdict === 'look up') {
      const looked = await lookUp(context, upload, fault).catch((lookUpFault: unknown) => {
        error = lookUpFault
      })
      if (looked?.kind === 'transferred') return { offsetBytes: progress.lengthBytes!, state: looked.status }
    }
    if (verdict === 'fail') await fail(context, upload, { reason: (fault as Error).message })
    if (verdict === 'keep in tail' && (await parts.salvage({ mayFinish })))
      return { offsetBytes: progress.offsetBytes, state: 'transferring' }
    await parts.discard()
    await lease.release({
      bound: upload.numbers.boundAfterRelease(),
      interrupted: true,
      refusal: bucketRefusal(error, destinations.find((one) => one.fault === error)?.dataStoreId),
    })
  } finally {
    lease.forget()
  }
  throw errorForClient(error)
}

/** Called if the bucket no longer has a multipart upload. */
async function lookUp(context: UploadContext, upload: Upload, fault: unknown): Promise<Outcome> {
  const { fileId, lease, destinations, progress } = upload
  if (destinations.length > 1) return settleByLookingUpAtEach(context, upload, fault)
  const [destination] = destinations as readonly [Destination]
  return settleByLookingUp(context, { fileId, lease, destination, lengthBytes: progress.lengthBytes }, fault)
}

/**
 * The result of looking up the object at one of several destinations. `found` is undefined if the object does not
 * exist, or if that could not be determined.
 */
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
 * For a file with several destinations, one of which no longer has its multipart upload: either it was dropped, or the
 * objects were created without the database knowing. Throws if a required bucket cannot currently tell what happened.
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
  if (!several) return { kind: 'left' }
  const recording = recordTransferred(context, lease, { found: { etag: null, several } }, { lengthBytes })
  return (await lease.whileHeld(recording))
    ? { kind: 'transferred', status: several.status }
    : { kind: 'left' }
}

/** A best-effort destination that does not respond has no influence on the outcome. */
async function lookAt(
  destination: Destination,
  { fileId, lease, lengthBytes }: { fileId: string; lease: Upload['lease']; lengthBytes: number | null },
  fault: unknown,
): Promise<Judged | undefined> {
  if (!destination.isOpen) return undefined
  const looking = judgeByLookingUp({ fileId, lease, destination, lengthBytes }, fault)
  return destination.required ? looking : looking.catch(() => undefined)
}
