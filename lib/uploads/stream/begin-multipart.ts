import { seconds } from '../../platform/kernel/clock.ts'
import { isSluiceError } from '../../platform/kernel/errors.ts'
import type { Bucket } from '../bucket-port.ts'
import type { Lease } from '../lease/held-lease.ts'
import { recordMultipart } from '../ledger/part-rows.ts'
import { inBackground, type UploadContext } from '../upload-context.ts'

/** How long to wait for the response, and then for the abort, once the caller has given up. */
const LINGER_MS = seconds(5)

type Beginning = {
  bucket: Pick<Bucket, 'createMultipart' | 'abortMultipart' | 'storageOf'>
  target: Parameters<Bucket['createMultipart']>[0]
  dataStoreId: string
  lease: Lease
}

/**
 * Starts a multipart upload and records its id. Only the response contains the id, so the response is awaited even if
 * the lease is lost in the meantime. If the id can then no longer be recorded, the multipart upload is aborted,
 * provided that the credentials allow it. If the process is killed here or the response is lost, an empty multipart
 * upload stays behind, and only the bucket's lifecycle rule removes it.
 */
export function beginMultipart(context: UploadContext, beginning: Beginning): Promise<string> {
  const begun = begin(context, beginning)
  // The caller gets the error directly from `begun`.
  inBackground(context, Promise.allSettled([begun]))
  return beginning.lease.whileHeld(begun)
}

async function begin(
  { db, checkpoint, log }: UploadContext,
  { bucket, target, dataStoreId, lease }: Beginning,
): Promise<string> {
  const multipartId = await bucket.createMultipart(target, { signal: lingering(lease.signal) })
  checkpoint('multipart created')
  try {
    await recordMultipart(db, lease, { dataStoreId, multipartId, storage: bucket.storageOf(target.object) })
    return multipartId
  } catch (error) {
    // Only a refusal proves that the id was not recorded; an unresponsive database may have recorded it.
    if (isSluiceError(error))
      await bucket
        .abortMultipart({ key: target.key, multipartId }, { signal: AbortSignal.timeout(LINGER_MS) })
        .catch((err) => log.info({ fileId: lease.rowId, err }, 'could not abort a multipart upload'))
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
