import type { OpenUpload } from '../opening/open-upload.ts'
import type { Parts } from '../stream/parts.ts'

/** More than this is not worth writing to the database: the client can send it again. */
const MAX_SALVAGE_BYTES = 16 * 1024 * 1024

/** Records a part that could not be sent as a tail. True if it is the end of the file. */
export async function salvage(
  upload: OpenUpload,
  parts: Pick<Parts, 'recorded' | 'oldest' | 'recordAsTail'>,
  { mayFinish }: { mayFinish: boolean },
): Promise<boolean> {
  // Parts before the failed one may still be recorded. After that, the failed one is the oldest.
  await parts.recorded().catch(() => {})
  const { oldest } = parts
  if (!oldest || oldest.buffer.bytes === 0 || oldest.buffer.bytes > MAX_SALVAGE_BYTES) return false
  // If the database failed, too, the part may not begin at the confirmed offset.
  if (oldest.fromBytes !== upload.offsetBytes) return false
  const isLast = mayFinish && upload.offsetBytes + oldest.buffer.bytes === upload.lengthBytes
  await parts.recordAsTail(
    oldest.buffer,
    isLast ? { become: 'transferring', release: { interrupted: false } } : {},
  )
  return isLast
}
