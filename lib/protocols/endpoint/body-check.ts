import { createHash } from 'node:crypto'
import { crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { fastCrc32 } from '../../platform/kernel/fast-crc32.ts'

/** Compares a body with the digests that its client sent. */
export type BodyCheck = {
  update(chunk: Buffer): void
  /** Call this once the whole body has arrived. */
  verify(): void
}

export type Algorithm = 'md5' | 'sha1' | 'sha256' | 'sha512' | 'crc32'
export type Digest = { algorithm: Algorithm; base64: string }
type RunningDigest = { update(chunk: Buffer): void; base64(): string }

/** `wanted` is called after the body has ended: a trailer may only then say which of the algorithms is meant. */
export function checkBody(
  algorithms: Iterable<Algorithm>,
  wanted: () => readonly Digest[],
  status?: number,
): BodyCheck {
  const running = new Map([...algorithms].map((algorithm) => [algorithm, openDigest(algorithm)]))
  return {
    update(chunk) {
      for (const digest of running.values()) digest.update(chunk)
    },
    verify() {
      // A hash can be read only once, but two fields may name the same algorithm.
      const digests = new Map([...running].map(([algorithm, digest]) => [algorithm, digest.base64()]))
      for (const { algorithm, base64 } of wanted())
        if (digests.get(algorithm) !== base64)
          throw new SluiceError(
            'checksum_mismatch',
            `The ${algorithm} of the body does not match the one that was sent.`,
            { ...(status && { status }) },
          )
    },
  }
}

function openDigest(algorithm: Algorithm): RunningDigest {
  if (algorithm !== 'crc32') {
    const hash = createHash(algorithm)
    return { update: (chunk) => void hash.update(chunk), base64: () => hash.digest('base64') }
  }
  let crc = 0
  return {
    update(chunk) {
      crc = fastCrc32(chunk, crc)
    },
    base64: () => crc32ToBase64(crc),
  }
}
