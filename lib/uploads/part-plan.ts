const MiB = 1024 * 1024

/** S3: every part but the last. */
export const MIN_PART_BYTES = 5 * MiB
export const USUAL_PART_BYTES = 8 * MiB
const MAX_PART_BYTES = 512 * MiB
const MAX_EQUAL_PART_BYTES = 64 * MiB
/** One number in twenty is left for parts that interruptions close early. */
const USABLE = 0.95
/** With an unknown length parts grow: each is the bytes before it, times this, over the number of parts allowed. */
const DEFERRED_GROWTH = 20

export type PartLimits = { maxParts: number; equalParts: boolean; maxPartBytes: number }

/**
 * An eighth of the memory budget, so that one upload cannot take it all. Processes that divide a budget keep to the
 * whole, so that each can go on with what any of them began, as far as two such parts fit into the share of one.
 */
export function largestPartBytes(memoryBytes: number, shareBytes = memoryBytes): number {
  return Math.max(
    Math.min(MAX_PART_BYTES, floorMiB(memoryBytes / 8), floorMiB(shareBytes / 2)),
    USUAL_PART_BYTES,
  )
}

export function partLimits(
  provider: { maxParts: number; equalParts: boolean },
  maxPartBytes: number,
): PartLimits {
  const { maxParts, equalParts } = provider
  const most = equalParts ? MAX_EQUAL_PART_BYTES : MAX_PART_BYTES
  return { maxParts, equalParts, maxPartBytes: Math.min(most, maxPartBytes) }
}

/** At most 4.64 TiB, which is below the largest object of every provider: the smallest is 4.995 TiB, of Cloudflare R2. */
export function largestUpload({ maxParts, maxPartBytes }: PartLimits): number {
  return Math.floor(maxParts * USABLE) * maxPartBytes
}

/** Where all parts must be equal, the one size that carries the upload, fixed at its creation. */
export function equalPartBytes(limits: PartLimits, lengthBytes: number | null): number {
  if (lengthBytes === null) return limits.maxPartBytes
  return clamp(ceilMiB(lengthBytes / Math.floor(limits.maxParts * USABLE)), limits.maxPartBytes)
}

/** How large the part that begins at `offsetBytes` should be, if it is not the last. */
export function nextPartBytes(
  limits: PartLimits,
  at: { lengthBytes: number | null; offsetBytes: number; nextNumber: number },
): number {
  const numbersLeft = Math.max(Math.floor((limits.maxParts - at.nextNumber + 1) * USABLE), 1)
  if (at.lengthBytes !== null)
    return clamp(ceilMiB((at.lengthBytes - at.offsetBytes) / numbersLeft), limits.maxPartBytes)
  return clamp(ceilMiB((at.offsetBytes * DEFERRED_GROWTH) / limits.maxParts), limits.maxPartBytes)
}

/** Whether an interruption may close a part here, or its bytes must wait in a tail. */
export function mayCloseEarly(
  limits: PartLimits,
  at: { lengthBytes: number | null; offsetBytes: number; nextNumber: number; partBytes: number },
): boolean {
  if (limits.equalParts || at.partBytes < MIN_PART_BYTES) return false
  // With an unknown length, so is the number of parts to come: half of the numbers may go to interruptions.
  if (at.lengthBytes === null) return at.nextNumber <= limits.maxParts / 2
  const remaining = at.lengthBytes - at.offsetBytes - at.partBytes
  return Math.floor((limits.maxParts - at.nextNumber) * USABLE) * limits.maxPartBytes >= remaining
}

/** Where a part begins, and its number. */
export type PartStart = { number: number; startOffset: number }

/** The parts of one request, as far as they are known before its bytes arrive. */
export type PartPlan = {
  /** Where a part ends if nothing interrupts it. */
  targetOffset(at: PartStart): number
  /** Where it will end, or undefined if the bytes from there on will be no part: a tail, a whole file, or none. */
  endOffset(at: PartStart): number | undefined
  mayEndAt(at: PartStart, endOffset: number): boolean
}

/**
 * Plans how an upload is cut into parts. Numbers are scarce: a provider accepts a limited number of parts, and an
 * interruption may close a part early. So the size of the next part is the remaining bytes over the remaining numbers.
 */
export function planParts(
  limits: PartLimits,
  upload: {
    lengthBytes: number | null
    /** The size of every part, where all must be equal. */
    partBytes: number | null
    /** Where the request's body ends, if it says so. */
    requestEndOffset: number | undefined
  },
): PartPlan {
  const { lengthBytes, partBytes, requestEndOffset = Number.POSITIVE_INFINITY } = upload
  const end = lengthBytes ?? Number.POSITIVE_INFINITY
  const targetOffset = ({ number, startOffset }: PartStart) =>
    startOffset +
    (partBytes ?? nextPartBytes(limits, { lengthBytes, offsetBytes: startOffset, nextNumber: number }))
  const mayEndAt = ({ number, startOffset }: PartStart, endOffset: number) =>
    mayCloseEarly(limits, {
      lengthBytes,
      offsetBytes: startOffset,
      nextNumber: number,
      partBytes: endOffset - startOffset,
    })
  return {
    targetOffset,
    mayEndAt,
    endOffset(at) {
      const { number, startOffset } = at
      if (startOffset >= Math.min(end, requestEndOffset) || number > limits.maxParts) return undefined
      const endOffset = Math.min(targetOffset(at), end)
      if (startOffset === 0 && endOffset === end) return undefined
      if (endOffset <= requestEndOffset) return endOffset
      return mayEndAt(at, requestEndOffset) ? requestEndOffset : undefined
    },
  }
}

function clamp(bytes: number, maxPartBytes: number): number {
  return Math.min(Math.max(bytes, USUAL_PART_BYTES), maxPartBytes)
}

function ceilMiB(bytes: number): number {
  return Math.ceil(bytes / MiB) * MiB
}

function floorMiB(bytes: number): number {
  return Math.floor(bytes / MiB) * MiB
}
