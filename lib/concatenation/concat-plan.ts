import { MIN_PART_BYTES } from '../upload-memory/part-sizes.ts'

/** A range of one of the objects. */
export type Stretch = { source: number; first: number; bytes: number }
export type ConcatStep = { copy: Stretch } | { join: Stretch[] }

/** The limit of UploadPartCopy. */
const MAX_COPY_BYTES = 5 * 1024 ** 3

/**
 * Plans how to join objects into one. A range of 5 MiB or more is copied within the bucket. S3 only accepts a smaller
 * part at the end, so a smaller range is read and sent again together with the next one.
 */
export function concatPlan(sizes: readonly number[]): ConcatStep[] {
  const steps: ConcatStep[] = []
  let small: Stretch[] = []
  let smallBytes = 0
  const hold = (stretch: Stretch) => {
    if (stretch.bytes === 0) return
    small.push(stretch)
    smallBytes += stretch.bytes
  }
  const flush = () => {
    if (small.length > 0) steps.push({ join: small })
    small = []
    smallBytes = 0
  }
  for (const [source, bytes] of sizes.entries()) {
    const last = source === sizes.length - 1
    let first = 0
    if (smallBytes > 0) {
      first = Math.min(bytes, MIN_PART_BYTES - smallBytes)
      if (bytes - first < MIN_PART_BYTES) first = bytes
      hold({ source, first: 0, bytes: first })
      if (smallBytes >= MIN_PART_BYTES) flush()
    }
    const rest = { source, first, bytes: bytes - first }
    if (rest.bytes >= MIN_PART_BYTES || (last && smallBytes === 0 && rest.bytes > 0))
      steps.push(...copies(rest))
    else hold(rest)
  }
  flush()
  return steps
}

/** Splits a long range into copies of equal size, so that none is too small. */
function copies({ source, first, bytes }: Stretch): ConcatStep[] {
  const count = Math.ceil(bytes / MAX_COPY_BYTES)
  const size = Math.ceil(bytes / count)
  return Array.from({ length: count }, (_, n) => ({
    copy: { source, first: first + n * size, bytes: Math.min(size, bytes - n * size) },
  }))
}
