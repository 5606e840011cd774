import { SluiceError } from '../../platform/kernel/errors.ts'
import { recordFoundType } from '../ledger/offsets.ts'
import { readTail } from '../ledger/tails.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { Upload } from '../opening/upload.ts'
import { HEAD_BYTES, judgeContent } from '../rules/content.ts'
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
