import { HEAD_BYTES, judgeContent } from '../../media-types/judge-content.ts'
import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { declareChecksums } from '../ledger/offsets.ts'
import { readTail } from '../ledger/tail-rows.ts'
import type { Upload } from '../opening/upload.ts'
import { CHECKSUM_MISMATCH, type Checksums, checksumMismatch } from '../rules/checksums.ts'
import type { PartBuffer } from '../stream/part-buffer.ts'
import type { Recorder } from '../stream/recorder.ts'
import type { UploadContext } from '../upload-context.ts'
import type { Refused } from './finish-upload.ts'
import { fail } from './settle.ts'

type Bytes = Pick<PartBuffer, 'bytes' | 'joined'>
type LastBytes = Bytes & Pick<PartBuffer, 'crc32' | 'hashed'>

/**
 * Compares an upload's bytes with its client's declarations: the first bytes with the declared type, and the entire
 * file with the declared checksums. Until the type is known to match, the bytes are kept out of every bucket: they are
 * stored as tails, which exist only in the database.
 */
export class ContentGuard {
  readonly #context: UploadContext
  readonly #upload: Upload
  readonly #recorder: Pick<Recorder, 'foundType'>
  /** The checksums of the entire file that are declared with this request. */
  readonly #checksums: Checksums
  readonly #fromBytes: number
  #received = Buffer.alloc(0)
  #isJudging: boolean
  #mismatched: string | undefined

  constructor(
    context: UploadContext,
    upload: Upload,
    recorder: Pick<Recorder, 'foundType'>,
    checksums: Checksums,
  ) {
    this.#context = context
    this.#upload = upload
    this.#recorder = recorder
    this.#checksums = checksums
    this.#fromBytes = upload.progress.offsetBytes
    this.#isJudging = upload.verifiesContent && this.#fromBytes < HEAD_BYTES
  }

  /**
   * True while each piece has to pass `admits`. False once the type is known to match, or if the Pipe does not verify
   * it.
   */
  get isJudging(): boolean {
    return this.#isJudging || this.#mismatched !== undefined
  }

  /** Call this before doing anything with a piece, and drop the piece if this returns false. */
  async admits(piece: Bytes): Promise<boolean> {
    await this.#judge(piece, { isEndOfFile: false })
    return this.#mismatched === undefined
  }

  /**
   * Fails the file if a piece was dropped. Only bytes that the client actually sent may fail a file, so call this for an
   * atomic request once all of it has arrived and been verified.
   */
  async refuseDropped(): Promise<Refused | undefined> {
    if (this.#mismatched === undefined) return undefined
    const { declaredType } = this.#upload
    this.#context.metrics.contentVerified.inc({ outcome: 'mismatch' })
    await fail(this.#context, this.#upload, mismatch(this.#mismatched))
    const declared = declaredType
      ? `The file was declared as ${declaredType}`
      : 'The file was declared without a type'
    return refused(new SluiceError('type_mismatch', `${declared}, but its content is ${this.#mismatched}.`))
  }

  /**
   * Call this with the remaining bytes and, if they complete the file, with the checksum of all preceding bytes. Fails
   * the file if its content does not match what was declared.
   */
  async refuseLast(
    last: LastBytes,
    whole: { crc32Before: number } | undefined,
  ): Promise<Refused | undefined> {
    await this.#judge(last, { isEndOfFile: whole !== undefined })
    const refusedDropped = await this.refuseDropped()
    if (refusedDropped) return refusedDropped
    const declared = await this.#declare()
    // The checksum of a file with lanes is compared when its last lane is complete.
    if (!whole || this.#upload.isLane) return undefined
    const crc32 = combineCrc32(whole.crc32Before, last.crc32, last.bytes)
    const error = checksumMismatch(declared, { crc32, sha256: last.hashed?.sha256 ?? null })
    if (!error) return undefined
    // At least one byte changed in transit, and it is unknown which.
    await fail(this.#context, this.#upload, CHECKSUM_MISMATCH)
    return refused(error)
  }

  async #judge(piece: Bytes, { isEndOfFile }: { isEndOfFile: boolean }): Promise<void> {
    if (!this.#isJudging) return
    const { fileId, lease, declaredType } = this.#upload
    const missingBytes = HEAD_BYTES - this.#fromBytes - this.#received.length
    this.#received = Buffer.concat([this.#received, piece.joined(0, missingBytes)])
    const isWhole = this.#fromBytes + this.#received.length < HEAD_BYTES
    if (isWhole && !isEndOfFile) return
    this.#isJudging = false
    // The tail is only read when needed. Otherwise, a client that sends single bytes would cause a full read for each
    // one.
    const before = this.#fromBytes > 0 ? await lease.whileHeld(readTail(this.#context, fileId)) : []
    const head = Buffer.concat([...before, this.#received])
    const { found, fits } = await judgeContent(head, { declared: declaredType, isWhole })
    if (!fits) {
      this.#mismatched = found
      return
    }
    this.#context.metrics.contentVerified.inc({ outcome: 'fits' })
    this.#recorder.foundType = found
  }

  /** Returns the checksums declared for the file, with this request or an earlier one. */
  async #declare(): Promise<Checksums> {
    const { declared: before, fileId, lease, hash } = this.#upload
    const { crc32 } = this.#checksums
    // Without a hash, nothing is known about the file's SHA-256.
    const sha256 = hash ? this.#checksums.sha256 : null
    const isNew = (crc32 !== null && before.crc32 === null) || (sha256 !== null && before.sha256 === null)
    const declared = isNew
      ? await lease.whileHeld(declareChecksums(this.#context.db, fileId, lease, { crc32, sha256 }))
      : before
    for (const [name, sent] of Object.entries({ crc32, sha256 }))
      if (sent !== null && sent !== declared[name as keyof Checksums]) throw declaredBefore(name)
    return declared
  }
}

const refused = (error: unknown): Refused => ({ state: 'refused', error })

export const mismatch = (found: string) => ({ reason: 'type_mismatch', refusedContent: found })

const declaredBefore = (name: string) =>
  new SluiceError('invalid_header', `This ${name} differs from the one declared for the file earlier.`)
