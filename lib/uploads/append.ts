import { SluiceError } from '../platform/kernel/errors.ts'
import { requestDetail } from '../platform/kernel/request-context.ts'
import { within } from '../platform/kernel/within.ts'
import type { ByteSource } from './byte-source.ts'
import { endsFile } from './finish/ends-file.ts'
import { finishUpload } from './finish/finish-upload.ts'
import { recoverFromFault } from './finish/recover-from-fault.ts'
import type { OpenUpload } from './open-upload.ts'
import { Parts } from './stream/parts.ts'
import type { Rest } from './stream/piece.ts'
import { Reader } from './stream/reader.ts'
import type { UploadContext } from './upload-context.ts'

export type Appended = {
  offsetBytes: number
  why: Exclude<Rest['why'], 'overrun'>
  state: 'uploading' | 'transferring' | 'transferred'
}

export type AppendOptions = {
  /** More bytes than this are the client's error. */
  limitBytes: number
  /** Judges the whole body once it has arrived, by throwing. */
  verify?: () => void
  /** The request counts entirely or not at all. If not said, one that is judged does. */
  atomic?: boolean
  /** What ends the file: its last byte, the end of this body, or nothing that this request brings. */
  ends?: 'at length' | 'with body' | 'later'
  /** A body that does not arrive whole can never be continued, so the rest of it is not kept. */
  onlyWhole?: boolean
}

/**
 * Appends the bytes of one request to an upload that it alone may write, and releases the lease. On return, `offsetBytes`
 * is durable. Bytes that arrived but were not taken (cut while paused for memory, or after a fault) are sent again by the
 * client.
 */
export async function appendBytes(
  context: UploadContext,
  upload: OpenUpload,
  source: ByteSource,
  options: AppendOptions,
): Promise<Appended> {
  const { limitBytes, verify, atomic = verify !== undefined, ends = 'at length', onlyWhole = false } = options
  const parts = new Parts(context, upload, { atomic })
  const reader = new Reader(context, upload, source, { limitBytes, parts })
  const fromBytes = upload.offsetBytes
  const takesCut = !atomic && !onlyWhole
  const mayFinish = ends === 'at length'
  const request: Request = { context, upload, parts, verify, ends, fromBytes, takesCut, mayFinish }
  try {
    for (;;) {
      const piece = await reader.next()
      if (piece.kind === 'rest') return await close(request, piece)
      parts.add(piece)
    }
  } catch (fault) {
    const { mayFinish } = request
    return { ...(await recoverFromFault(context, upload, parts, { fault, mayFinish })), why: 'end' }
  } finally {
    parts.dispose()
    reader.dispose()
  }
}

type Request = Pick<AppendOptions, 'verify' | 'ends'> & {
  context: UploadContext
  upload: OpenUpload
  parts: Parts
  fromBytes: number
  /** Bytes that arrived before a cut are kept. */
  takesCut: boolean
  mayFinish: boolean
}

async function close(request: Request, rest: Rest): Promise<Appended> {
  const { buffer, why } = rest
  const { context, upload, parts, verify, ends, takesCut } = request
  if (why === 'overrun') {
    // Keeps the full parts before the excess, unless the request is atomic.
    if (parts.isCommitted) await parts.recorded()
    throw new SluiceError('file_too_large', 'The request has bytes past the end of the upload.')
  }
  if (why !== 'end' && !takesCut) await discard(request)
  else {
    if (why === 'end') verify?.()
    parts.commit()
    request.mayFinish = await endsFile(context, upload, parts, { rest, ends })
    if (request.mayFinish) return { ...(await finishUpload(context, upload, parts, buffer)), why }
    await keep(request, buffer, why)
  }
  return { offsetBytes: upload.offsetBytes, why, state: 'uploading' }
}

/** Leaves nothing of an atomic request that did not arrive entirely, and of any other what was recorded. */
async function discard({ context, upload, parts }: Request): Promise<void> {
  await within(context.terms.settleMs, parts.answered())
  parts.close()
  await upload.lease.release({ bound: upload.numbers.toKeep(), interrupted: true })
}

/** Bytes that did not fill a part become one if they are enough and the numbers allow it; else they wait in a tail. */
async function keep(
  { upload, parts, fromBytes }: Request,
  buffer: Rest['buffer'],
  why: Appended['why'],
): Promise<void> {
  const release = { interrupted: why !== 'end' }
  const toBytes = parts.endOffset + buffer.bytes
  if (toBytes > fromBytes) {
    const note = { kind: 'request', detail: { fromBytes, toBytes, ended: why, ...requestDetail() } }
    const last = { release, note }
    if (buffer.bytes > 0 && parts.mayEndWith(buffer)) parts.send(buffer, last)
    else if (buffer.bytes > 0 || !parts.attachToLastPart(last)) void parts.keep(buffer, last)
  }
  await parts.recorded()
  // Does nothing if the lease was released together with the last piece.
  await upload.lease.release({ bound: upload.numbers.toKeep(), ...release })
}
