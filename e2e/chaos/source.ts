import { createHash } from 'node:crypto'
import type { Random } from '../../test/support/random.ts'

const MIB = 1024 * 1024

/** The file that one client uploads, and the bytes that the bucket must have at the end. */
export type Source = { name: string; bytes: Buffer; sha256: string }

/** Picks sizes at which behavior changes: an empty file, one part, a tail, several parts. */
export function makeSource(random: Random, name: string): Source {
  const kind = random.whole(1, 10)
  const length =
    kind === 1
      ? random.pick([0, 1, 5 * MIB - 1, 5 * MIB, 5 * MIB + 1, 8 * MIB, 16 * MIB])
      : kind <= 4
        ? random.whole(1, MIB)
        : kind <= 7
          ? random.whole(MIB, 8 * MIB)
          : random.whole(8 * MIB, 32 * MIB)
  const bytes = random.bytes(length)
  return { name, bytes, sha256: createHash('sha256').update(bytes).digest('hex') }
}
