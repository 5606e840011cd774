import { SluiceError } from '../../platform/kernel/errors.ts'
import { recordFoundType } from '../ledger/offsets.ts'
import { readTail } from '../ledger/tails.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { Upload } from '../opening/upload.ts'
import { HEAD_BYTES, judgeContent } from '../rules/content.ts'
import type { UploadContext } from '../upload-context.ts'
import { fail } from './settle.ts'

/**
 * Holds the bytes of an upload back from every bucket until the first of them have shown that the file is what it was declared to
 * be. Before that they are tails, which are in the database only.
 */
export type ContentGuard = {
  /** Call it before anything is done with a piece. Throws if the file is something else: it has failed then. */
  admit(piece: Pick<PartBuffer, 'bytes' | 'joined'>, isLast: boolean): Promise<void>
}

/** Undefined if there is nothing to judge: the Pipe does not ask for it, or an earlier request has brought enough bytes. */
export function contentGuard(context: UploadContext, upload: Upload): ContentGuard | undefined {
  const { progress, fileId, lease, declaredType } = upload
  const fromBytes = progress.offsetBytes
  if (!upload.verifiesContent || fromBytes >= HEAD_BYTES) return undefined
  let head: Buffer | undefined
  let isOver = false
  return {
    async admit(piece, isLast) {
      if (isOver) return
      head ??=
        fromBytes > 0 ? Buffer.concat(await lease.whileHeld(readTail(context, fileId))) : Buffer.alloc(0)
      head = Buffer.concat([head, piece.joined(0, HEAD_BYTES - head.length)])
      if (head.length < HEAD_BYTES && !isLast) return
      isOver = true
      const isWhole = isLast && head.length < HEAD_BYTES
      const { found, fits } = await judgeContent(head, { declared: declaredType, isWhole })
      context.metrics.contentVerified.inc({ outcome: fits ? 'fits' : 'mismatch' })
      if (fits) return lease.whileHeld(recordFoundType(context.db, lease, found))
      await fail(context, upload, mismatch(found))
      throw new SluiceError('type_mismatch', `${declaredAs(declaredType)}, and its content is ${found}.`)
    },
  }
}

export const mismatch = (found: string) => ({ reason: 'type_mismatch', refusedContent: found })

const declaredAs = (type: string | null) => `The file was declared as ${type ?? 'of no type'}`
