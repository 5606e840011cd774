import { SluiceError } from '../../platform/kernel/errors.ts'

/**
 * The checksums of an entire file, as its client declares them, or as found. Null if unknown; the SHA-256 is in
 * hexadecimal.
 */
export type Checksums = { crc32: number | null; sha256: string | null }

export const NO_CHECKSUMS: Checksums = { crc32: null, sha256: null }

/** How a file ends whose bytes do not have a declared checksum. */
export const CHECKSUM_MISMATCH = { reason: 'checksum_mismatch' }

/** Undefined unless a declared checksum differs from the one found. */
export function checksumMismatch(declared: Checksums, found: Checksums): SluiceError | undefined {
  if (differ(declared.crc32, found.crc32)) return mismatch('crc32', hex(declared.crc32!), hex(found.crc32!))
  if (differ(declared.sha256, found.sha256)) return mismatch('SHA-256', declared.sha256!, found.sha256!)
  return undefined
}

const differ = <Value>(declared: Value | null, found: Value | null): boolean =>
  declared !== null && found !== null && declared !== found

const mismatch = (name: string, declared: string, found: string) =>
  new SluiceError(
    'checksum_mismatch',
    `The file was declared with the ${name} ${declared}, but the received bytes have the ${name} ${found}. No object was created.`,
  )

const hex = (crc: number) => crc.toString(16).padStart(8, '0')
