import { createCipheriv, createHash } from 'node:crypto'

/**
 * A run's seed determines all its decisions. Each part has its own random stream, so the order in which the parts run
 * does not affect their decisions.
 */
export type Random = ReturnType<typeof randomOf>

export function randomOf(seed: string) {
  const digest = createHash('sha256').update(seed).digest()
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => digest.readInt32LE(at)) as [number, number, number, number]
  /** sfc32 */
  const next = (): number => {
    const t = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = ((c << 21) | (c >>> 11)) + t
    return (t >>> 0) / 2 ** 32
  }
  const whole = (min: number, max: number) => min + Math.floor(next() * (max - min + 1))
  return {
    whole,
    chance: (probability: number) => next() < probability,
    pick: <T>(from: readonly T[]): T => from[whole(0, from.length - 1)]!,
    fork: (name: string) => randomOf(`${seed}/${name}`),
    bytes(length: number): Buffer {
      const key = createHash('sha256').update(`${seed}/bytes`).digest()
      return createCipheriv('aes-256-ctr', key, Buffer.alloc(16)).update(Buffer.alloc(length))
    },
  }
}

/** Returns the same pseudo-random bytes each time. */
export function keystream(bytes: number): Buffer {
  return createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(bytes))
}
