import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { recordDeclaredCrc32, recordFoundType } from '../ledger/offsets.ts'
import { readTail } from '../ledger/tails.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { Upload } from '../opening/upload.ts'
import { HEAD_BYTES, judgeContent } from '../rules/content.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { fail } from './settle.ts'

type Bytes = Pick<PartBuffer, 'bytes' | 'joined'>

/**
 * Holds the bytes of an upload back from every bucket until the first of them have shown that the file is what it was declared to
 * be. Before that they are tails, which are in the database only.
 */
export type ContentGuard = {
  /**
   * Call it before anything is done with a piece, and drop the piece if it is false. Throws if the file is something else: it has
   * failed then. A file fails only for bytes that its client sent, so an atomic request is read to its end first, and its own
   * checksum compared.
   */
  admits(piece: Bytes): Promise<boolean>
  /** Call it when all of the request is there and verified, before its end is worked out. Throws if a piece was dropped. */
  refuseDropped(): Promise<void>
  /** Call it with the bytes that are left. Throws as `admits` does. */
  admitLast(rest: Bytes, isEndOfFile: boolean): Promise<void>
}

/** Undefined if there is nothing to judge: the Pipe does not ask for it, or an earlier request has brought enough bytes. */
export function contentGuard(
  context: UploadContext,
  upload: Upload,
  { isAtomic }: { isAtomic: boolean },
): ContentGuard | undefined {
  const { progress, fileId, lease, declaredType } = upload
  const fromBytes = progress.offsetBytes
  if (!upload.verifiesContent || fromBytes >= HEAD_BYTES) return undefined
  let received = Buffer.alloc(0)
  let isOver = false
  let mismatched: string | undefined

  async function judge(piece: Bytes, isEndOfFile: boolean): Promise<void> {
    if (isOver) return
    received = Buffer.concat([received, piece.joined(0, HEAD_BYTES - fromBytes - received.length)])
    const isWhole = fromBytes + received.length < HEAD_BYTES
    if (isWhole && !isEndOfFile) return
    isOver = true
    // Read once it is needed: a client that sends single bytes would otherwise have all of it read for each.
    const before = fromBytes > 0 ? await lease.whileHeld(readTail(context, fileId)) : []
    const head = Buffer.concat([...before, received])
    const { found, fits } = await judgeContent(head, { declared: declaredType, isWhole })
    if (!fits) {
      mismatched = found
      return
    }
    context.metrics.contentVerified.inc({ outcome: 'fits' })
    await lease.whileHeld(recordFoundType(context.db, lease, found))
  }

  async function refuseDropped(): Promise<void> {
    if (mismatched === undefined) return
    context.metrics.contentVerified.inc({ outcome: 'mismatch' })
    await fail(context, upload, mismatch(mismatched))
    throw new SluiceError('type_mismatch', `${declaredAs(declaredType)}, and its content is ${mismatched}.`)
  }

  return {
    async admits(piece) {
      await judge(piece, false)
      if (!isAtomic) await refuseDropped()
      return mismatched === undefined
    },
    refuseDropped,
    async admitLast(rest, isEndOfFile) {
      await judge(rest, isEndOfFile)
      await refuseDropped()
    },
  }
}

export const mismatch = (found: string) => ({ reason: 'type_mismatch', refusedContent: found })

const declaredAs = (type: string | null) => `The file was declared as ${type ?? 'of no type'}`

type Declared = {
  /** With this request. */
  crc32?: number | undefined
  /** All bytes of the file, once they are here: before the last of them becomes part of an object. */
  whole: { parts: Pick<Parts, 'endCrc32'>; last: Pick<PartBuffer, 'crc32' | 'bytes'> } | undefined
}

export const CHECKSUM_MISMATCH = { reason: 'checksum_mismatch' }

/**
 * Compares the bytes of a file with the checksum that its client declared, of what it has read. The file fails if they differ: some
 * byte was changed on its way here, and nobody knows which.
 */
export async function assertChecksum(
  context: UploadContext,
  upload: Upload,
  { crc32, whole }: Declared,
): Promise<void> {
  const { declaredCrc32, lease } = upload
  if (crc32 !== undefined && declaredCrc32 !== null && crc32 !== declaredCrc32)
    throw new SluiceError('invalid_header', 'The crc32 of the file was declared before, and is another now.')
  const expected = declaredCrc32 ?? crc32
  if (expected === undefined) return
  if (declaredCrc32 === null) await lease.whileHeld(recordDeclaredCrc32(context.db, lease, expected))
  if (!whole) return
  const { parts, last } = whole
  const found = combineCrc32(parts.endCrc32, last.crc32, last.bytes)
  if (found === expected) return
  await fail(context, upload, CHECKSUM_MISMATCH)
  throw checksumMismatch(expected, found)
}

export function checksumMismatch(expected: number, found: number): SluiceError {
  return new SluiceError(
    'checksum_mismatch',
    `The file was declared to have the crc32 ${hex(expected)}, and the bytes that arrived have ${hex(found)}. There is no object.`,
  )
}

const hex = (crc: number) => crc.toString(16).padStart(8, '0')
