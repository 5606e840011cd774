import { bucketRefusal } from '../bucket-port.ts'
import type { Upload } from '../opening/upload.ts'
import { classify, errorForClient } from '../rules/faults.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Finished } from './finish-upload.ts'
import { fail, settleByLookingUp } from './settle.ts'

/**
 * Ends a request in which a part could not be made durable. Confirmed bytes are kept, and bytes after the fault are
 * not. After a transient bucket error, the part is stored as a tail: if it was the last part, every byte is durable,
 * and the object is created later; if not, the client continues after it. For an uncommitted atomic request, nothing is
 * stored. If the object turns out to exist, the file is transferred. Otherwise, the request is refused. Without
 * `mayFinish`, the upload continues, whatever its length. Throws if the lease was lost.
 */
export async function recoverFromFault(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  { fault, mayFinish }: { fault: unknown; mayFinish: boolean },
): Promise<Finished> {
  const { fileId, lease, destinations, progress } = upload
  const { lengthBytes } = progress
  // If no part was sent, the failed request was a single PutObject.
  const hasParts = destinations.some(({ multipartId }) => multipartId !== null) || parts.sentParts > 0
  const { verdict } = classify(fault, hasParts ? 'part' : 'put')
  let error = fault
  try {
    if (lease.signal.aborted) throw lease.signal.reason
    if (verdict === 'look up') {
      const file = { fileId, lease, lengthBytes, destinations }
      const looked = await settleByLookingUp(context, file, fault).catch((lookUpFault: unknown) => {
        error = lookUpFault
      })
      if (looked?.kind === 'transferred') return { offsetBytes: lengthBytes!, state: looked.status }
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
  return { state: 'refused', error: errorForClient(error) }
}
