import { crc32 } from 'node:zlib'
import { combineCrc32 } from '../platform/kernel/crc32.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { beginMultipart } from './begin-multipart.ts'
import type { Body } from './bucket-port.ts'
import { type Advance, advance } from './ledger/advance.ts'
import { bindParts } from './ledger/bind-parts.ts'
import { stageTail } from './ledger/stage-tail.ts'
import type { PartBuffer } from './memory/part-buffer.ts'
import { expiresAtMs, type OpenUpload } from './open-upload.ts'
import type { UploadContext } from './upload-context.ts'
import { withTail } from './with-tail.ts'

/**
 * The line in which the bytes of one request become durable. Parts go to the bucket side by side; the ledger takes them
 * one after another, so that the offset never counts past a gap. A buffer stays until the ledger has it. After the
 * first fault nothing more is recorded.
 */
export type PartLine = {
  /** Where the upload stands once all that is in the line is recorded. */
  readonly endBytes: number
  /** Bytes of tail that the next part begins with. */
  readonly tailBytes: number
  /** Buffers that are not recorded yet, the oldest first. */
  readonly waiting: readonly PartBuffer[]
  /** Where the oldest of them begins. */
  readonly waitingFromBytes: number
  readonly partsSent: number
  send(buffer: PartBuffer, also?: Also): void
  /** The last part takes this along into the ledger. False: there is none, or it is being recorded already. */
  takeAlong(also: Also): boolean
  /** Resolves when the database has it. Without `also` its client is still sending. */
  keepTail(buffer: PartBuffer, also?: Also): Promise<void>
  /** The checksum of the request agreed: what was held is recorded. */
  agree(): void
  /** Resolves when all in the line is recorded; rejects with the first fault. */
  settled(): Promise<void>
  /** Resolves when the bucket has answered, or failed to, for every part that was sent. */
  sent(): Promise<unknown>
  /** From here on no part is sent that is not on its way: what the numbers of the others stand for may change. */
  close(): void
  /** Nothing more of the line counts: what is being sent is aborted, and its buffers are freed. */
  drop(): void
}

/** What else changes with the last piece of a request. */
export type Also = Pick<Advance, 'become' | 'release' | 'note'>

/** Larger tails are written as several rows: a statement of them takes a third more as text. */
const TAIL_ROW_BYTES = 4 * 1024 * 1024
/**
 * Of little that nobody waits for, as its client is still sending, or gone: the text of a row is small enough for V8's young
 * space, and its statement for the requests behind it.
 */
const PATIENT_ROW_BYTES = 90 * 1024
const PATIENT_BYTES = 1024 * 1024

export type LineEvents = { onRoom(): void; onFault(error: unknown): void }

/**
 * With `held`, nothing counts until `agree` is called: parts are not recorded, and tails are stored past the confirmed
 * offset, where the next lease deletes them.
 */
export function openPartLine(
  context: UploadContext,
  upload: OpenUpload,
  events: LineEvents,
  held = false,
): PartLine {
  const { db, clock, checkpoint } = context
  const { lease, bucket, numbers } = upload
  const memory = context.budget.account(bucket)
  const sealTail = context.tails.sealer(upload.fileId)
  const { promise: agreed, resolve: agree } = Promise.withResolvers<void>()
  const dropped = new AbortController()
  const signal = AbortSignal.any([lease.signal, dropped.signal])
  const waiting: PartBuffer[] = []
  const starts = new Map<PartBuffer, number>()
  let endBytes = upload.offsetBytes
  let tailBytes = upload.tailBytes
  let partsSent = 0
  /** The last statement that bound numbers of a held request; those of any other go with the line. */
  let binding: Promise<void> = Promise.resolve()
  let line: Promise<void> = held ? agreed : Promise.resolve()
  let tailInLine: Promise<void> = Promise.resolve()
  let multipart: Promise<string> | undefined
  const sendings = new Set<Promise<unknown>>()
  let isHeld = held
  let isClosed = false
  /** The last piece, while it is a part that is not being recorded yet. */
  let lastPart: { also: Also } | undefined

  const letGo = (buffer: PartBuffer) => {
    const at = waiting.indexOf(buffer)
    if (at < 0) return
    waiting.splice(at, 1)
    starts.delete(buffer)
    memory.leaving(-buffer.bytes)
    buffer.free()
    events.onRoom()
  }
  const enqueue = (buffer: PartBuffer, record: () => Promise<void>) => {
    waiting.push(buffer)
    starts.set(buffer, endBytes - buffer.bytes)
    memory.leaving(buffer.bytes)
    line = line.then(record).then(() => letGo(buffer))
    line.catch(events.onFault)
  }
  const record = async (change: Omit<Advance, 'fromBytes'>) => {
    const fromBytes = upload.offsetBytes
    if (change.release || change.part) {
      const when = { recording: change.part !== undefined }
      change.bound = change.release ? numbers.toKeep(when) : numbers.toBind(when)
    }
    const unreserved = upload.lengthBytes === null ? context.quota : undefined
    const nowMs = clock.now()
    await lease.whileHeld(advance(db, lease, { fromBytes, unreserved, ...change }, nowMs))
    if (change.bound) numbers.commit(change.bound)
    upload.offsetBytes = change.toBytes
    upload.expiresAtMs = expiresAtMs(upload, nowMs)
    upload.crc32 = change.crc32
    context.metrics.uploadBytes.inc(change.toBytes - fromBytes)
  }
  const openMultipart = async () => {
    if (upload.multipartId) return upload.multipartId
    const target = { key: upload.key, contentType: upload.contentType }
    upload.multipartId = await beginMultipart(context, { bucket, target, lease })
    return upload.multipartId
  }
  /**
   * A part is sent once its number is bound to its range, as it usually is in advance. If not, recording what is ahead of
   * it binds it along the way; only one that nothing is ahead of takes a statement of its own.
   */
  const bind = (number: number): Promise<void> => {
    if (number > upload.limits.maxParts) return Promise.reject(tooManyParts(upload))
    if (numbers.isCommitted(number)) return Promise.resolve()
    binding = (isHeld ? binding : line).then(async () => {
      if (numbers.isCommitted(number)) return
      const bound = numbers.toBind()
      await lease.whileHeld(bindParts(db, lease, bound))
      numbers.commit(bound)
    })
    return binding
  }
  const recordTail = async (buffer: PartBuffer, also?: Also) => {
    // An empty file, or a length that came after its bytes: nothing to keep, but what follows from it stands.
    if (buffer.bytes === 0) return record({ toBytes: upload.offsetBytes, crc32: upload.crc32, ...also })
    const endBytes = upload.offsetBytes + buffer.bytes
    const waitedFor = also && !also.release?.interrupted
    await rowByRow(buffer, !waitedFor, async (bytes) => {
      const toBytes = upload.offsetBytes + bytes.length
      const last = toBytes === endBytes ? also : {}
      const tail = sealTail(upload.offsetBytes, bytes)
      await record({ toBytes, crc32: crc32(bytes, upload.crc32), tail, ...last })
      upload.tailBytes += bytes.length
    })
  }
  const stage = (fromBytes: number, buffer: PartBuffer) => {
    let offsetBytes = fromBytes
    return rowByRow(buffer, true, async (bytes) => {
      await lease.whileHeld(stageTail(db, lease, { offsetBytes, tail: sealTail(offsetBytes, bytes) }))
      offsetBytes += bytes.length
    })
  }
  /** In turn with other uploads, each row for itself: a crowd that leaves at once must not be held in copies. */
  const rowByRow = async (buffer: PartBuffer, patient: boolean, write: (row: Buffer) => Promise<void>) => {
    const rowBytes = patient && buffer.bytes <= PATIENT_BYTES ? PATIENT_ROW_BYTES : TAIL_ROW_BYTES
    const turn = (from: number) =>
      context.tailTurn(async () => {
        lease.assertHeld()
        await write(buffer.joined(from, from + rowBytes))
      })
    for (let from = 0; from < buffer.bytes; from += rowBytes) await lease.whileHeld(turn(from))
  }
  const recordStaged = async (buffer: PartBuffer, staged: Promise<void>) => {
    await staged
    const crc = combineCrc32(upload.crc32, buffer.crc32, buffer.bytes)
    await record({ toBytes: upload.offsetBytes + buffer.bytes, crc32: crc, tail: 'staged' })
    upload.tailBytes += buffer.bytes
  }
  const put = async (number: number, bound: Promise<void>, body: Body) => {
    multipart ??= openMultipart()
    const [multipartId] = await Promise.all([multipart, bound])
    lease.assertHeld()
    if (isClosed) throw new Error('the line was closed before the part was sent')
    numbers.markSent(number)
    const { key } = upload
    const { etag } = await bucket.uploadPart({ key, multipartId, number }, body, { signal })
    checkpoint('part sent')
    return { etag, crc32: body.crc32 }
  }

  return {
    get endBytes() {
      return endBytes
    },
    get tailBytes() {
      return tailBytes
    },
    get partsSent() {
      return partsSent
    },
    waiting,
    get waitingFromBytes() {
      return waiting[0] ? starts.get(waiting[0])! : endBytes
    },
    send(buffer, also = {}) {
      const going = { also }
      lastPart = going
      const before = tailBytes
      const number = numbers.take(endBytes + buffer.bytes)
      const bound = bind(number)
      bound.catch(events.onFault)
      const part = { number, offsetBytes: endBytes - before, sizeBytes: before + buffer.bytes }
      const tailed = { fromBytes: part.offsetBytes, toBytes: endBytes, rest: buffer }
      endBytes += buffer.bytes
      tailBytes = 0
      partsSent += 1
      const toBytes = endBytes
      const sending =
        before === 0
          ? put(number, bound, buffer)
          : tailInLine.then(() =>
              withTail(context, upload, { ...tailed, signal }, (body) => put(number, bound, body)),
            )
      sendings.add(sending)
      const ended = () => sendings.delete(sending)
      sending.then(ended, ended)
      // A part that may not be recorded yet would keep its memory until the request has ended.
      sending.then(() => held && letGo(buffer), events.onFault)
      enqueue(buffer, async () => {
        const sent = await sending
        const crc = combineCrc32(upload.crc32, buffer.crc32, buffer.bytes)
        if (lastPart === going) lastPart = undefined
        await record({ toBytes, crc32: crc, part: { ...part, ...sent }, ...going.also })
        upload.tailBytes = 0
        checkpoint('part recorded')
      })
    },
    takeAlong(also) {
      if (!lastPart) return false
      lastPart.also = also
      return true
    },
    keepTail(buffer, also) {
      lastPart = undefined
      const fromBytes = endBytes
      tailBytes += buffer.bytes
      endBytes += buffer.bytes
      if (isHeld) {
        tailInLine = stage(fromBytes, buffer)
        tailInLine.then(() => letGo(buffer), events.onFault)
      }
      const staged = isHeld && tailInLine
      enqueue(buffer, () => (staged ? recordStaged(buffer, staged) : recordTail(buffer, also)))
      if (!staged) tailInLine = line
      return tailInLine
    },
    agree() {
      isHeld = false
      agree(binding)
    },
    settled: () => line,
    sent: () => Promise.allSettled(sendings),
    close() {
      isClosed = true
    },
    drop() {
      isClosed = true
      dropped.abort()
      for (const buffer of [...waiting]) letGo(buffer)
    },
  }
}

function tooManyParts({ limits }: OpenUpload): SluiceError {
  return new SluiceError(
    'file_too_large',
    `The bucket's provider takes ${limits.maxParts} parts, and this upload has used them up.`,
  )
}
