import { crc32 } from 'node:zlib'
import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { freeBuffer } from '../../platform/kernel/free-buffer.ts'
import { withMemory } from '../../upload-memory/memory-budget.ts'
import type { Body } from '../bucket-port.ts'
import { lostLease } from '../ledger/lease-terms.ts'
import { readTail, stageTail } from '../ledger/tail-rows.ts'
import type { Upload } from '../opening/upload.ts'
import type { UploadContext } from '../upload-context.ts'
import type { PartBuffer } from './part-buffer.ts'
import type { Attached, Recorder } from './recorder.ts'

/**
 * Larger tails are written as several rows, because a statement encodes their bytes as text, which is a third longer.
 */
const TAIL_ROW_BYTES = 4 * 1024 * 1024
/**
 * The row size for small tails that no client waits for: small enough for the statement's text to fit into V8's young
 * space, and for other statements to run in between.
 */
const UNAWAITED_ROW_BYTES = 90 * 1024
const SMALL_TAIL_BYTES = 1024 * 1024

/** Writes bytes that do not fill a part to the database, encrypted. */
export class Tails {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #recorder: Recorder
  readonly #seal: ReturnType<UploadContext['tailCipher']['sealer']>

  constructor(context: UploadContext, upload: Upload, recorder: Recorder) {
    this.#context = context
    this.#upload = upload
    this.#recorder = recorder
    this.#seal = context.tailCipher.sealer(upload.lease.rowId)
  }

  /** Writes the bytes and moves the offset over them. Without `attached`, the client is still sending. */
  async record(buffer: PartBuffer, attached?: Attached): Promise<void> {
    const upload = this.#upload
    // An empty file, or a length declared after the last byte: `attached` must be recorded without a tail.
    if (buffer.bytes === 0)
      return this.#recorder.write({
        toBytes: upload.progress.offsetBytes,
        crc32: upload.progress.crc32,
        hashed: buffer.hashed,
        ...attached,
      })
    const endOffset = upload.progress.offsetBytes + buffer.bytes
    const isAwaited = attached !== undefined && !attached.release?.interrupted
    // The SHA-256 is only known at the end of the buffer, so the offset may not stop before.
    if (buffer.hashed && buffer.bytes > rowBytes(buffer, { isAwaited })) {
      await this.stage(upload.progress.offsetBytes, buffer)
      return this.recordStaged(buffer, attached)
    }
    await this.#rowByRow(buffer, { isAwaited }, async (bytes) => {
      const toBytes = upload.progress.offsetBytes + bytes.length
      const tail = this.#seal(upload.progress.offsetBytes, bytes)
      const crc = crc32(bytes, upload.progress.crc32)
      const { hashed } = buffer
      await this.#recorder.write({
        toBytes,
        crc32: crc,
        tail,
        hashed,
        ...(toBytes === endOffset && attached),
      })
      freeBuffer(tail.bytes)
    })
  }

  /**
   * Writes an atomic request's bytes past the confirmed offset. The next time the lease is taken, they are deleted
   * unless they have been recorded.
   */
  async stage(fromBytes: number, buffer: PartBuffer): Promise<void> {
    const { db } = this.#context
    const { lease } = this.#upload
    let offsetBytes = fromBytes
    await this.#rowByRow(buffer, { isAwaited: false }, async (bytes) => {
      const tail = this.#seal(offsetBytes, bytes)
      await lease.whileHeld(stageTail(db, lease, { offsetBytes, tail }))
      freeBuffer(tail.bytes)
      offsetBytes += bytes.length
    })
  }

  /** Moves the offset over staged bytes. */
  async recordStaged(
    { bytes, crc32: crc, hashed }: Pick<PartBuffer, 'bytes' | 'crc32' | 'hashed'>,
    attached?: Attached,
  ): Promise<void> {
    const upload = this.#upload
    await this.#recorder.write({
      toBytes: upload.progress.offsetBytes + bytes,
      crc32: combineCrc32(upload.progress.crc32, crc, bytes),
      tail: 'staged',
      hashed,
      ...attached,
    })
  }

  /** Writes one row at a time, so that a mass disconnect does not copy every buffer at the same time. */
  async #rowByRow(
    buffer: PartBuffer,
    { isAwaited }: { isAwaited: boolean },
    write: (row: Buffer) => Promise<void>,
  ): Promise<void> {
    const { lease } = this.#upload
    const most = rowBytes(buffer, { isAwaited })
    const writeRow = async (from: number) => {
      lease.assertHeld()
      const row = buffer.joined(from, from + most)
      await write(row)
      freeBuffer(row)
    }
    for (let from = 0; from < buffer.bytes; from += most)
      await lease.whileHeld(this.#context.limitTailWrites(() => writeRow(from)))
  }
}

const rowBytes = ({ bytes }: PartBuffer, { isAwaited }: { isAwaited: boolean }): number =>
  !isAwaited && bytes <= SMALL_TAIL_BYTES ? UNAWAITED_ROW_BYTES : TAIL_ROW_BYTES

/** Reads a range of the tail from the database, and keeps it in memory while `work` sends it in front of the body. */
export function withTail<Result>(
  context: Pick<UploadContext, 'db' | 'tailCipher'>,
  { lease, memory }: Pick<Upload, 'lease' | 'memory'>,
  tailed: { fromBytes: number; toBytes: number; body: Body; signal: AbortSignal },
  work: (body: Body) => Promise<Result>,
): Promise<Result> {
  const { fromBytes, toBytes, body, signal } = tailed
  const tailBytes = toBytes - fromBytes
  return withMemory(memory, { bytes: tailBytes, signal }, async () => {
    const tail = await lease.whileHeld(readTail(context, lease.rowId, { fromBytes, toBytes }))
    // Another writer has already sent the tail in a part.
    if (tail.reduce((sum, piece) => sum + piece.length, 0) !== tailBytes) throw lostLease()
    const tailCrc = tail.reduce((crc, piece) => crc32(piece, crc), 0)
    return work({
      chunks: [...tail, ...body.chunks],
      bytes: tailBytes + body.bytes,
      crc32: combineCrc32(tailCrc, body.crc32, body.bytes),
    })
  })
}
