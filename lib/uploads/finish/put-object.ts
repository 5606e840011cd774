import { within } from '../../platform/kernel/waits.ts'
import type { Body } from '../bucket-port.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { OpenUpload } from '../opening/open-upload.ts'
import { verdictOn } from '../rules/faults.ts'
import { withTail } from '../stream/with-tail.ts'
import type { UploadContext } from '../upload-context.ts'

/**
 * Puts the object: the tail, if there is one, and the last bytes. Undefined if the bucket takes too long or has a
 * transient error. `crc32` was computed as the bytes arrived, so the bucket refuses the object if the tail was damaged
 * since.
 */
export async function putObject(
  context: UploadContext,
  upload: OpenUpload,
  last: PartBuffer,
  crc32: number,
): Promise<{ etag: string | null } | undefined> {
  const { lease, bucket, key, contentType } = upload
  // The PUT must be aborted before its buffers are reused.
  const late = new AbortController()
  const signal = AbortSignal.any([lease.signal, late.signal])
  const put = (body: Body) => {
    lease.assertHeld()
    upload.wasPut = true
    const { chunks, bytes } = body
    return bucket.putObject({ key, contentType }, { chunks, bytes, crc32 }, { signal })
  }
  const tailed = { fromBytes: 0, toBytes: upload.offsetBytes, body: last, signal }
  const putting = upload.tailBytes > 0 ? withTail(context, upload, tailed, put) : put(last)
  const answer = await within(context.terms.assembleMs, putting).catch((error: unknown) => {
    if (verdictOn('put', error) === 'keep in tail') return 'late' as const
    throw error
  })
  late.abort()
  return answer === 'late' ? undefined : answer
}
