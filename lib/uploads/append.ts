import { SluiceError } from '../platform/kernel/errors.ts'
import { requestDetail } from '../platform/kernel/request-context.ts'
import { ContentGuard } from './finish/content-guard.ts'
import { finishUpload, type Refused } from './finish/finish-upload.ts'
import { recoverFromFault } from './finish/recover-from-fault.ts'
import type { DoneStatus } from './ledger/transferred.ts'
import { declareLength } from './opening/open-for-bytes.ts'
import type { Upload } from './opening/upload.ts'
import { type Checksums, NO_CHECKSUMS } from './rules/checksums.ts'
import { Parts } from './stream/parts.ts'
import type { ByteSource, Piece, Rest } from './stream/pieces.ts'
import { Reader } from './stream/reader.ts'
import { inBackground, type UploadContext } from './upload-context.ts'

type End = { why: Exclude<Rest['why'], 'overrun'> }

/** The bytes before `offsetBytes` are durable. `why` is the reason for the end of the body. */
export type Accepted = End & {
  offsetBytes: number
  /** `undecided`: all bytes are durable, but a hook has not allowed the object yet. */
  state: 'uploading' | 'transferring' | DoneStatus | 'undecided'
  /** The result that the hook returns to the uploader. */
  result?: unknown
}

/** What became of a request's bytes. */
type Appended = Accepted | (End & Refused)

export type AppendOptions = {
  /** The maximum length of the body. A longer body is a client error. */
  limitBytes: number
  /** The checksums of the entire file, if the client declares them with this request. */
  checksums?: Checksums | undefined
  /** Sees all bytes that are read, and checks the entire body once it has arrived: it throws to reject the body. */
  check?: { update(bytes: Buffer): void; verify(): void } | undefined
  rules: BodyRules
}

/** How a request body is treated. Each protocol determines its own rules. */
export type BodyRules = {
  /**
   * What happens to the bytes of an interrupted body. `keep`: all received bytes are kept. `keep parts`: nobody can
   * continue the upload, so bytes that did not fill a part are not stored. `discard`: the request is atomic, so
   * nothing is kept.
   */
  whenCut: 'keep' | 'keep parts' | 'discard'
  /** What completes the file: its last byte, the end of this body, or a later request. */
  completedBy: 'length' | 'body' | 'later'
}

/**
 * Appends the body of one request to an upload whose lease the caller holds, and releases the lease. When it returns,
 * all bytes before `offsetBytes` are durable. The client has to send later bytes again, whether they arrived after a
 * fault or were cut off while reading was paused for lack of memory. Throws if the bytes were refused, the lease was
 * lost, or the ledger cannot be reached.
 */
export async function appendBytes(
  context: UploadContext,
  upload: Upload,
  source: ByteSource,
  options: AppendOptions,
): Promise<Accepted> {
  const appended = await append(context, upload, source, options)
  if (appended.state === 'refused') throw appended.error
  return appended
}

async function append(
  context: UploadContext,
  upload: Upload,
  source: ByteSource,
  options: AppendOptions,
): Promise<Appended> {
  const { limitBytes, checksums = NO_CHECKSUMS, check, rules } = options
  const parts = new Parts(context, upload, { atomic: rules.whenCut === 'discard' })
  const reader = new Reader(context, upload, source, { limitBytes, parts, check })
  const guard = new ContentGuard(context, upload, parts.recorder, checksums)
  const fromBytes = upload.progress.offsetBytes
  const mayFinish = rules.completedBy === 'length'
  const request: Request = { context, upload, parts, guard, check, rules, fromBytes, mayFinish }
  try {
    for (;;) {
      const piece = await reader.next()
      if (piece.kind === 'rest') return await close(request, piece)
      if (await admitOrDrop(guard, piece)) parts.add(piece)
      else if (!parts.isAtomic) return { ...(await guard.refuseDropped())!, why: 'end' }
    }
  } catch (fault) {
    const { mayFinish } = request
    return { ...(await recoverFromFault(context, upload, parts, { fault, mayFinish })), why: 'end' }
  } finally {
    parts.dispose()
    reader.dispose()
    if (upload.memory.heldBytes > 0) inBackground(context, closeMemory(context, upload))
  }
}

/** Returns and reports memory that nobody uses any longer, so that a forgotten buffer does not block other uploads. */
async function closeMemory(
  { metrics, log }: Pick<UploadContext, 'metrics' | 'log'>,
  { fileId, memory }: Upload,
): Promise<void> {
  const leakedBytes = await memory.close()
  if (leakedBytes === 0) return
  metrics.memoryLeaked.inc(leakedBytes)
  log.error({ fileId, leakedBytes }, 'a request did not return its upload memory')
}

/** Drops a piece that the guard does not admit. Nothing else would free its memory. */
async function admitOrDrop(guard: ContentGuard, piece: Piece): Promise<boolean> {
  let admitted = !guard.isJudging
  try {
    admitted ||= await guard.admits(piece.buffer)
    return admitted
  } finally {
    if (!admitted) {
      piece.buffer.free()
      if (piece.kind === 'spill') piece.stored()
    }
  }
}

type Request = Pick<AppendOptions, 'check' | 'rules'> & {
  context: UploadContext
  upload: Upload
  parts: Parts
  guard: ContentGuard
  fromBytes: number
  /** The file is complete once its length is reached. */
  mayFinish: boolean
}

async function close(request: Request, rest: Rest): Promise<Appended> {
  const { buffer, why } = rest
  const { context, upload, parts, guard, check, rules, fromBytes } = request
  if (why === 'overrun') {
    // Full parts received before the excess bytes are kept, unless the request is atomic.
    if (parts.recorder.isCommitted) await parts.recorder.recorded
    throw new SluiceError('file_too_large', 'The request contains bytes past the end of the upload.')
  }
  const release = { interrupted: why !== 'end' }
  // Parts that are already recorded are kept; an atomic request has recorded none.
  if (release.interrupted && rules.whenCut !== 'keep') await parts.discard()
  else {
    if (why === 'end') check?.verify()
    const dropped = await guard.refuseDropped()
    if (dropped) return { ...dropped, why }
    parts.recorder.commit()
    request.mayFinish = await endsFile(context, upload, parts, { rest, rules })
    buffer.hashed = upload.hash?.at(buffer.chunks, { isEnd: request.mayFinish })
    const refused = await guard.refuseLast(
      buffer,
      request.mayFinish ? { crc32Before: parts.endCrc32 } : undefined,
    )
    if (refused) return { ...refused, why }
    if (request.mayFinish) return { ...(await finishUpload(context, upload, parts, buffer)), why }
    const toBytes = parts.endOffset + buffer.bytes
    const range = { fromBytes, toBytes, ended: why, ...(upload.isLane && { lane: true }) }
    const note = { kind: 'request', detail: { ...range, ...requestDetail() } }
    if (toBytes > fromBytes) parts.addLast(buffer, { release, note })
    await parts.recorder.recorded
  }
  // Has no effect if recording the last piece has already released the lease.
  await upload.lease.release({ bound: upload.numbers.boundAfterRelease(), ...release })
  return { offsetBytes: upload.progress.offsetBytes, why, state: 'uploading' }
}

/** Whether this request completes the file. Records the length if it was unknown until now. */
async function endsFile(
  context: UploadContext,
  upload: Upload,
  parts: Parts,
  { rest, rules: { completedBy } }: { rest: Rest; rules: BodyRules },
): Promise<boolean> {
  const endOffset = parts.endOffset + rest.buffer.bytes
  if (completedBy === 'later' || (completedBy === 'body' && rest.why !== 'end')) return false
  if (completedBy === 'body' && upload.progress.lengthBytes === null) {
    await parts.recorder.recorded
    await declareLength(context, upload, { lengthBytes: endOffset, maxBytes: endOffset })
  }
  return endOffset === upload.progress.lengthBytes
}
