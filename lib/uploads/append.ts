import { SluiceError } from '../platform/kernel/errors.ts'
import { requestDetail } from '../platform/kernel/request-context.ts'
import { within } from '../platform/kernel/within.ts'
import type { ByteSource } from './byte-source.ts'
import { finishUpload } from './finish.ts'
import type { OpenUpload } from './open-upload.ts'
import { recoverFromFault } from './recover-from-fault.ts'
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
  /** More is an error of the request. */
  limitBytes: number
  /** Judges the whole body once it is there, by throwing. Makes the request atomic: it counts entirely or not at all. */
  verify?: () => void
}

/**
 * Appends the bytes of one request to an upload that it alone may write, and releases the upload. All bytes that arrived
 * are durable when it returns, however the request ended: in parts that the bucket acknowledged and the ledger
 * recorded, in a tail that the database holds, or in the object.
 */
export async function appendBytes(
  context: UploadContext,
  upload: OpenUpload,
  source: ByteSource,
  { limitBytes, verify }: AppendOptions,
): Promise<Appended> {
  const fromBytes = upload.offsetBytes
  const parts = new Parts(context, upload, { atomic: verify !== undefined })
  const reader = new Reader(context, upload, source, { limitBytes, parts })
  try {
    for (;;) {
      const piece = await reader.next()
      if (piece.kind === 'rest') return await close(piece)
      parts.add(piece)
    }
  } catch (fault) {
    return { ...(await recoverFromFault(context, upload, parts, fault)), why: 'end' }
  } finally {
    parts.dispose()
    reader.dispose()
  }

  async function close({ buffer, why }: Rest): Promise<Appended> {
    if (why === 'overrun') return refuseOverrun()
    if (verify && why !== 'end') await discard()
    else {
      verify?.()
      parts.commit()
      if (parts.endBytes + buffer.bytes === upload.lengthBytes)
        return { ...(await finishUpload(context, upload, parts, buffer)), why }
      await keep(buffer, why)
    }
    return { offsetBytes: upload.offsetBytes, why, state: 'uploading' }
  }

  /** Whole parts before the excess stay, unless the request is atomic. */
  async function refuseOverrun(): Promise<never> {
    if (!verify) await parts.recorded()
    throw new SluiceError('file_too_large', 'The request has bytes past the end of the upload.')
  }

  /** An atomic request that did not arrive entirely leaves nothing. */
  async function discard(): Promise<void> {
    await within(context.terms.settleMs, parts.answered())
    parts.close()
    await upload.lease.release({ bound: upload.numbers.toKeep(), interrupted: true })
  }

  /** What has not filled a part becomes one, if it is large enough and the numbers allow that, or waits in a tail. */
  async function keep(buffer: Rest['buffer'], why: Appended['why']): Promise<void> {
    const interrupted = why !== 'end'
    const toBytes = parts.endBytes + buffer.bytes
    const note = { kind: 'request', detail: { fromBytes, toBytes, ended: why, ...requestDetail() } }
    if (buffer.bytes === 0) parts.attachToLastPart({ release: { interrupted } })
    else if (parts.mayEndWith(buffer)) parts.send(buffer, { release: { interrupted }, note })
    else void parts.keep(buffer, { release: { interrupted }, note })
    await parts.recorded()
    // Unless that was recorded with the last piece.
    await upload.lease.release({ bound: upload.numbers.toKeep(), interrupted })
  }
}
