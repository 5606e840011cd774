import { SluiceError } from '../platform/kernel/errors.ts'
import { requestDetail } from '../platform/kernel/request-context.ts'
import { within } from '../platform/kernel/within.ts'
import type { ByteSource } from './byte-source.ts'
import { finishUpload } from './finish.ts'
import type { OpenUpload } from './open-upload.ts'
import { openPartLine, type PartLine } from './part-line.ts'
import { type Received, receive } from './receive.ts'
import { recoverFromFault } from './recover-from-fault.ts'
import type { UploadContext } from './upload-context.ts'

/**
 * Appends the bytes of one request to an upload that it alone may write, and lets the upload go. All bytes that arrived
 * are durable when it returns, however the request ended: in parts that the bucket acknowledged and the ledger
 * recorded, in a tail that the ledger holds, or in the object.
 */
export type Appended = {
  offsetBytes: number
  why: Exclude<Received['why'], 'overrun' | 'fault'>
  state: 'uploading' | 'transferring' | 'transferred'
}

export type AppendOptions = {
  /** More is an error of the request. */
  mayTakeBytes: number
  /** Judges the whole body once it is there, by throwing. With it, the request counts whole or not at all. */
  verify?: () => void
}

export async function appendBytes(
  context: UploadContext,
  upload: OpenUpload,
  source: ByteSource,
  { mayTakeBytes, verify }: AppendOptions,
): Promise<Appended> {
  const fromBytes = upload.offsetBytes
  let isAgreed = false
  let receiver: ReturnType<typeof receive> | undefined
  let fault: unknown
  const line = openPartLine(
    context,
    upload,
    {
      onRoom: () => receiver?.onRoom(),
      onFault: (error) => {
        fault ??= error
        receiver?.onFault()
      },
    },
    verify !== undefined,
  )
  receiver = receive(context, upload, source, {
    line: () => line,
    mayTakeBytes,
    whole: verify !== undefined,
  })
  const { why, rest } = await receiver.done
  try {
    if (why === 'overrun') return await refuseOverrun(line, verify)
    if (why === 'fault') throw fault ?? upload.lease.signal.reason
    if (verify && why !== 'end') return await forget(context, upload, line, why)
    verify?.()
    isAgreed = true
    line.agree()
    if (line.endBytes + rest.bytes === upload.lengthBytes)
      return { ...(await finishUpload(context, upload, line, rest)), why }
    await keep(upload, line, { why, rest, fromBytes })
    return { offsetBytes: upload.offsetBytes, why, state: 'uploading' }
  } catch (error) {
    const recovered = await recoverFromFault(context, upload, line, {
      error,
      maySalvage: !verify || isAgreed,
    })
    return { ...recovered, why: 'end' }
  } finally {
    line.drop()
    rest.free()
  }
}

/** What did not fill a part closes one early, if it is large enough and numbers allow, or waits in a tail. */
async function keep(
  upload: OpenUpload,
  line: PartLine,
  { why, rest, fromBytes }: { why: Appended['why']; rest: Received['rest']; fromBytes: number },
): Promise<void> {
  const interrupted = why !== 'end'
  const toBytes = line.endBytes + rest.bytes
  const note = { kind: 'request', detail: { fromBytes, toBytes, ended: why, ...requestDetail() } }
  const release = { interrupted }
  if (rest.bytes === 0) {
    const released = line.takeAlong({ release })
    await line.settled()
    if (released) return upload.lease.forget()
    return upload.lease.release({ bound: upload.numbers.toKeep(), interrupted })
  }
  const also = { release, note }
  if (upload.numbers.mayEndAt(toBytes)) line.send(rest, also)
  else void line.keepTail(rest, also)
  await line.settled()
  upload.lease.forget()
}

/** A body with a checksum that did not arrive whole: the offset stays. */
async function forget(
  context: UploadContext,
  upload: OpenUpload,
  line: PartLine,
  why: Appended['why'],
): Promise<Appended> {
  await within(context.terms.settleMs, line.sent())
  line.close()
  await upload.lease.release({ bound: upload.numbers.toKeep(), interrupted: true })
  return { offsetBytes: upload.offsetBytes, why, state: 'uploading' }
}

/** Whole parts before the excess stay; the rest of the request does not count. */
async function refuseOverrun(line: PartLine, verify: AppendOptions['verify']): Promise<never> {
  if (!verify) await line.settled()
  throw new SluiceError('file_too_large', 'The request has bytes past the end of the upload.')
}
