import { crc32 } from 'node:zlib'
import { isSluiceError, SluiceError } from '../platform/kernel/errors.ts'
import { within } from '../platform/kernel/within.ts'
import { type BucketFaultKind, bucketFault, bucketRefusal } from './bucket-port.ts'
import { verdictOn } from './fault-table.ts'
import { advance } from './ledger/advance.ts'
import type { PartBuffer } from './memory/part-buffer.ts'
import type { OpenUpload } from './open-upload.ts'
import { fail, lookUp } from './settle.ts'
import type { Parts } from './stream/parts.ts'
import type { UploadContext } from './upload-context.ts'

/** More than this is not worth writing to the database: the client sends it again. */
const MAX_SALVAGE_BYTES = 16 * 1024 * 1024

type Unrecorded = Pick<Parts, 'isCommitted' | 'sentParts' | 'oldest' | 'recorded' | 'answered' | 'close'>
type Recovered = { offsetBytes: number; state: 'transferring' | 'transferred' }

/**
 * A part could not be made durable. What is confirmed stays, and nothing after the fault counts. If the bucket is only in
 * trouble, the part is kept in the tail: if it was the last one, every byte is durable and the object is made later; if not,
 * the client continues after it. An atomic request that is not committed leaves nothing. In all other cases this throws what
 * the client is told.
 */
export async function recoverFromFault(
  context: UploadContext,
  upload: OpenUpload,
  parts: Unrecorded,
  fault: unknown,
): Promise<Recovered> {
  const { lease } = upload
  // A single PutObject was tried where nothing was sent as a part.
  const verdict = verdictOn(upload.multipartId === null && parts.sentParts === 0 ? 'put' : 'part', fault)
  let error = fault
  try {
    if (lease.signal.aborted) throw lease.signal.reason
    if (verdict === 'look up') {
      const isThere = await lookUp(context, upload).catch((unanswered: unknown) => {
        error = unanswered
      })
      if (isThere) return { offsetBytes: upload.lengthBytes!, state: 'transferred' }
    }
    if (verdict === 'fail') await fail(context, upload, { reason: (fault as Error).message })
    if (verdict === 'keep' && parts.isCommitted && (await salvage(context, upload, parts)))
      return { offsetBytes: upload.offsetBytes, state: 'transferring' }
    // Bytes that were rejected must not reach the bucket after those that replace them.
    if (!parts.isCommitted) await within(context.terms.settleMs, parts.answered())
    parts.close()
    await lease.release({ bound: upload.numbers.toKeep(), interrupted: true, refusal: bucketRefusal(error) })
  } finally {
    lease.forget()
  }
  const toTell = bucketFault(error)
  throw toTell ? toldOf(toTell, error as Error) : error
}

/** True if those were the last bytes. */
async function salvage(context: UploadContext, upload: OpenUpload, parts: Unrecorded): Promise<boolean> {
  // Parts before the one that failed may still get through; the oldest that is left then is that one.
  await parts.recorded().catch(() => {})
  const { oldest } = parts
  if (!oldest || oldest.buffer.bytes === 0 || oldest.buffer.bytes > MAX_SALVAGE_BYTES) return false
  // Not if the database failed, too: what it begins with is recorded already, or what comes before it is not.
  if (oldest.fromBytes !== upload.offsetBytes) return false
  return context.limitTailWrites(() => keepPart(context, upload, oldest.buffer))
}

async function keepPart(
  { clock, db, tails }: UploadContext,
  upload: OpenUpload,
  part: PartBuffer,
): Promise<boolean> {
  upload.lease.assertHeld()
  const fromBytes = upload.offsetBytes
  const bytes = part.joined()
  const toBytes = fromBytes + bytes.length
  const last = toBytes === upload.lengthBytes
  const change = {
    ...{ fromBytes, toBytes, crc32: crc32(bytes, upload.crc32) },
    tail: tails.sealer(upload.fileId)(fromBytes, bytes),
    bound: upload.numbers.toKeep(),
    ...(last && ({ become: 'transferring', release: { interrupted: false } } as const)),
  }
  await upload.lease.whileHeld(advance(db, upload.lease, change, clock.now()))
  upload.offsetBytes = toBytes
  return last
}

function toldOf(kind: BucketFaultKind, error: Error): unknown {
  if (isSluiceError(error)) return error
  const again = kind === 'trouble' ? { headers: { 'Retry-After': '5' } } : {}
  return new SluiceError('bucket_refused', error.message, { cause: error, ...again })
}
