import { combineCrc32 } from '../../platform/kernel/crc32.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { recordDeclaredCrc32 } from '../ledger/offsets.ts'
import type { PartBuffer } from '../memory/part-buffer.ts'
import type { Upload } from '../opening/upload.ts'
import type { Parts } from '../stream/parts.ts'
import type { UploadContext } from '../upload-context.ts'
import { fail } from './settle.ts'

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
