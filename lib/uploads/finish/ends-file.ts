import type { AppendOptions } from '../append.ts'
import { declareLength } from '../opening/declare-length.ts'
import type { OpenUpload } from '../opening/open-upload.ts'
import type { Parts } from '../stream/parts.ts'
import type { Rest } from '../stream/piece.ts'
import type { UploadContext } from '../upload-context.ts'

/** Whether this request completes the file. If the length was unknown until now, it is recorded. */
export async function endsFile(
  context: UploadContext,
  upload: OpenUpload,
  parts: Parts,
  { rest, ends }: { rest: Pick<Rest, 'buffer' | 'why'>; ends: AppendOptions['ends'] },
): Promise<boolean> {
  const endOffset = parts.endOffset + rest.buffer.bytes
  if (ends === 'later' || (ends === 'with body' && rest.why !== 'end')) return false
  if (ends === 'with body' && upload.lengthBytes === null) {
    await parts.recorded()
    await declareLength(context, upload, { lengthBytes: endOffset, maxBytes: endOffset })
  }
  return endOffset === upload.lengthBytes
}
