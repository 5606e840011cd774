import { bucketRefusal } from '../bucket-port.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import type { Upload } from '../opening/upload.ts'
import { classify, errorForClient } from '../rules/faults.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { judgeByLookingUp } from './create-object.ts'
import { type Finished, hasBegun } from './finish-upload.ts'
import { fail, type Outcome, settleFound } from './settle.ts'

/**
 * Ends a request in which a part could not be made durable. Confirmed bytes are kept, and bytes after the fault are
 * not. After a transient bucket error, the part is stored as a tail: if it was the last part, every byte is durable,
 * and the object is created later; if not, the client continues after it. For an uncommitted atomic request, nothing is
 * stored. If the object turns out to exist, the file is transferred. Otherwise, the request is refused. Without
 * `mayFinish`, the upload continues, whatever its length. Throws if the lease was lost, or if
 * the ledger cannot be reached.
 */
export async function recoverFromFault(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  { fault, mayFinish }: { fault: unknown; mayFinish: boolean },
): Promise<Finished> {
  const { lease, destinations, progress } = upload
  const { lengthBytes } = progress
  const { remedy } = classify(fault, hasBegun(upload, parts) ? 'part' : 'put')
  let error = fault
  try {
    if (lease.signal.aborted) throw lease.signal.reason
    if (remedy === 'look up') {
      const looked = await settleByLookingUp(context, upload, fault).catch((lookUpFault: unknown) => {
        error = lookUpFault
      })
      if (looked?.kind === 'transferred') return { offsetBytes: lengthBytes!, state: looked.status }
    }
    if (remedy === 'fail') await fail(context, upload, { reason: (fault as Error).message })
    if (remedy === 'keep in tail' && (await parts.salvage({ mayFinish })))
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
  return { state: 'refused', error: errorForClient(error) }
}

/**
 * For a file whose multipart upload one of its buckets no longer has: either it was dropped, or the objects were
 * created without the database knowing. Throws if a required bucket cannot currently tell what happened.
 */
async function settleByLookingUp(
  context: UploadContext,
  { fileId, lease, destinations, progress }: Upload,
  fault: unknown,
): Promise<Outcome> {
  const file = { fileId, lease }
  const { lengthBytes } = progress
  const looked = await Promise.all(
    destinations.map(async (destination) => {
      if (!destination.isOpen) return { destination, judged: undefined }
      const looking = judgeByLookingUp({ fileId, lease, lengthBytes, destination }, fault)
      // A best-effort destination that does not respond has no influence on the outcome.
      const judged = await (destination.required ? looking : looking.catch(() => undefined))
      return { destination, judged }
    }),
  )
  for (const { destination, judged } of looked) {
    if (!destination.required || judged?.kind !== 'failed') continue
    await fail(context, file, judged.end)
    return { kind: 'failed', error: judged.error }
  }
  if (looked.some(({ destination, judged }) => destination.required && judged?.kind !== 'stored'))
    return { kind: 'left' }
  const found = looked.map(({ destination: { dataStoreId }, judged }) => ({
    dataStoreId,
    isThere: judged?.kind === 'stored',
    etag: judged?.kind === 'stored' ? judged.object.etag : null,
  }))
  const done = await settleFound(context, file, { lengthBytes, destinations: found })
  if (done) return done
  // Either the lease was lost, and this changes nothing, or the file is a piece whose checksum is unknown.
  await fail(context, file, {
    reason: 'The bucket has the object, but not all of its bytes were seen.',
    certainty: 'unknown',
  })
  return { kind: 'failed', error: lostLease() }
}
