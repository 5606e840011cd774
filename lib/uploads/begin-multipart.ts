import { seconds } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import type { Bucket } from './bucket-port.ts'
import { inBackground } from './in-background.ts'
import type { Lease } from './lease/held-lease.ts'
import { recordMultipart } from './ledger/record-multipart.ts'
import type { UploadContext } from './upload-context.ts'

/** How long to wait for the response, and then for the abort, after the caller has given up. */
const LINGER_MS = seconds(5)

type Beginning = {
  bucket: Pick<Bucket, 'createMultipart' | 'abortMultipart'>
  target: Parameters<Bucket['createMultipart']>[0]
  lease: Lease
}

/**
 * Only the response tells the id of the multipart upload, so it is awaited even if the lease is lost meanwhile. If the id
 * cannot be recorded then, the multipart upload is aborted, if the credentials allow it. A process that is killed here, or
 * a response that is lost, leaves an empty multipart upload behind, which only the bucket's lifecycle rule clears.
 */
export function beginMultipart(context: UploadContext, beginning: Beginning): Promise<string> {
  const begun = begin(context, beginning)
  // The caller gets its error.
  inBackground(
    context,
    begun.catch(() => {}),
  )
  return beginning.lease.whileHeld(begun)
}

async function begin(
  { db, checkpoint }: UploadContext,
  { bucket, target, lease }: Beginning,
): Promise<string> {
  const multipartId = await bucket.createMultipart(target, { signal: lingering(lease.signal) })
  checkpoint('multipart created')
  try {
    await recordMultipart(db, lease, multipartId)
    return multipartId
  } catch (error) {
    // Only a refusal proves that the id was not recorded; a database that did not answer may have recorded it.
    if (isSluiceError(error))
      await bucket
        .abortMultipart({ key: target.key, multipartId }, { signal: AbortSignal.timeout(LINGER_MS) })
        .catch(() => {})
    throw error
  }
}

function lingering(signal: AbortSignal): AbortSignal {
  const late = new AbortController()
  const linger = () => void setTimeout(() => late.abort(signal.reason), LINGER_MS).unref()
  if (signal.aborted) linger()
  else signal.addEventListener('abort', linger, { once: true })
  return late.signal
}
