import { within } from '../../platform/kernel/waits.ts'
import { inBackground } from '../in-background.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { OpenUpload } from '../opening/open-upload.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { completeUpload } from './complete.ts'
import { type Finished, putWhole } from './put-whole.ts'

/**
 * Stores a file whose last byte has arrived. A file of one part takes a single PutObject; any other becomes
 * `transferring` with its last part, and then an object. If the bucket takes long, the client gets its response first:
 * every byte is durable.
 */
export async function finishUpload(
  context: UploadContext,
  upload: OpenUpload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  const hasParts = upload.multipartId !== null || parts.sentParts > 0
  return hasParts ? assembleParts(context, upload, parts, last) : putWhole(context, upload, parts, last)
}

async function assembleParts(
  context: UploadContext,
  upload: OpenUpload,
  parts: Parts,
  last: PartBuffer,
): Promise<Finished> {
  if (parts.tailBytes + last.bytes > 0) parts.send(last, { become: 'transferring' })
  else void parts.storeAsTail(last, { become: 'transferring' })
  await parts.recorded()
  context.checkpoint('transferring')
  const completing = completeUpload(context, {
    fileId: upload.fileId,
    lease: upload.lease,
    bucket: upload.bucket,
    key: upload.key,
    multipartId: upload.multipartId!,
    bytes: upload.offsetBytes,
    crc32: upload.crc32,
    sentBefore: false,
    mayRead: upload.mayRead,
  })
  inBackground(context, completing)
  const done = await within(context.terms.assembleMs, completing)
  return { offsetBytes: upload.offsetBytes, state: done === true ? 'transferred' : 'transferring' }
}
