import { bucketRefusal } from '../bucket-port.ts'
import type { Destination, Upload } from '../opening/upload.ts'
import { classify, errorForClient } from '../rules/faults.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { settleByLookingUpAtEach } from './look-up-each.ts'
import { fail, type Outcome, settleByLookingUp } from './settle.ts'

type Unrecorded = Pick<
  Parts,
  'isCommitted' | 'sentParts' | 'oldest' | 'recorded' | 'recordAsTail' | 'responded' | 'close'
>
type Recovered = { offsetBytes: number; state: 'transferring' | 'transferred' }

/**
 * Ends a request in which a part could not be made durable. Confirmed bytes stay, and nothing after the fault counts.
 * After a transient error of the bucket the part is stored as a tail: if it was the last one, every byte is durable,
 * and the object is made later; if not, the client continues after it. Of an atomic request that is not committed,
 * nothing is stored. If the object turns out to exist, the file is transferred. Otherwise this throws the error for the
 * client. Without `mayFinish` the upload continues, whatever its length.
 */
export async function recoverFromFault(
  context: UploadContext,
  upload: Upload,
  parts: Unrecorded,
  { fault, mayFinish }: { fault: unknown; mayFinish: boolean },
): Promise<Recovered> {
  const { lease, destinations, progress } = upload
  // If nothing was sent as a part, what failed was a single PutObject.
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
      if (looked?.kind === 'transferred') return { offsetBytes: progress.lengthBytes!, state: 'transferred' }
    }
    if (verdict === 'fail') await fail(context, upload, { reason: (fault as Error).message })
    if (verdict === 'keep in tail' && parts.isCommitted && (await salvage(upload, parts, { mayFinish })))
      return { offsetBytes: progress.offsetBytes, state: 'transferring' }
    // Rejected bytes must not reach the bucket after those that replace them.
    if (!parts.isCommitted) await parts.responded()
    parts.close()
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

/** The bucket has no multipart upload any more. */
async function lookUp(context: UploadContext, upload: Upload, fault: unknown): Promise<Outcome> {
  const { fileId, lease, destinations, progress } = upload
  if (destinations.length > 1) return settleByLookingUpAtEach(context, upload, fault)
  const [destination] = destinations as readonly [Destination]
  return settleByLookingUp(context, { fileId, lease, destination, lengthBytes: progress.lengthBytes }, fault)
}

/** More than this is not worth writing to the database: the client can send it again. */
const MAX_SALVAGE_BYTES = 16 * 1024 * 1024

/** Records a part that could not be sent as a tail. True if it is the end of the file. */
export async function salvage(
  upload: Upload,
  parts: Pick<Parts, 'recorded' | 'oldest' | 'recordAsTail'>,
  { mayFinish }: { mayFinish: boolean },
): Promise<boolean> {
  // Parts before the failed one may still be recorded. After that, the failed one is the oldest.
  await parts.recorded().catch(() => {})
  const { oldest } = parts
  if (!oldest || oldest.buffer.bytes === 0 || oldest.buffer.bytes > MAX_SALVAGE_BYTES) return false
  // If the database failed, too, the part may not begin at the confirmed offset.
  if (oldest.fromBytes !== upload.progress.offsetBytes) return false
  const isLast =
    mayFinish && upload.progress.offsetBytes + oldest.buffer.bytes === upload.progress.lengthBytes
  await parts.recordAsTail(
    oldest.buffer,
    isLast ? { become: 'transferring', release: { interrupted: false } } : {},
  )
  return isLast
}
