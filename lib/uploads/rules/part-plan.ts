import { MAX_PART_BYTES, MIN_PART_BYTES, USUAL_PART_BYTES } from '../../upload-memory/part-sizes.ts'

const MiB = 1024 * 1024
const MAX_EQUAL_PART_BYTES = 64 * MiB
/** One number in twenty is reserved for parts that interruptions close early. */
const USABLE = 0.95
/**
 * For an unknown length, a part's size is the number of preceding bytes multiplied by this and divided by the number
 * of parts allowed.
 */
const DEFERRED_GROWTH = 20

export type PartLimits = { maxParts: number; equalParts: boolean; maxPartBytes: number }

type ProviderLimits = { maxParts: number; equalParts: boolean }

/**
 * Limits that all providers in a set accept: the lowest number of parts, and equal parts if any provider requires
 * them.
 */
export function limitsOfSet(providers: readonly ProviderLimits[], maxPartBytes: number): PartLimits {
  const maxParts = Math.min(...providers.map((one) => one.maxParts))
  return partLimits({ maxParts, equalParts: providers.some((one) => one.equalParts) }, maxPartBytes)
}

export function partLimits(provider: ProviderLimits, maxPartBytes: number): PartLimits {
  const { maxParts, equalParts } = provider
  const most = equalParts ? MAX_EQUAL_PART_BYTES : MAX_PART_BYTES
  return { maxParts, equalParts, maxPartBytes: Math.min(most, maxPartBytes) }
}

/**
 * At most 4.64 TiB with 10,000 parts, which is below every provider's limit: the lowest is Cloudflare R2's 4.995 TiB. With
 * Azure's 50,000, at most 23.2 TiB of 190.7.
 */
export function largestUpload({ maxParts, maxPartBytes }: PartLimits): number {
  return Math.floor(maxParts * USABLE) * maxPartBytes
}

/** The size of every part if all must be equal. It is fixed when the upload is created. */
export function equalPartBytes(limits: PartLimits, lengthBytes: number | null): number {
  if (lengthBytes === null) return limits.maxPartBytes
  return clamp(ceilMiB(lengthBytes / Math.floor(limits.maxParts * USABLE)), limits.maxPartBytes)
}

/** The size of the part that starts at `offsetBytes`, unless it is the last. */
export function nextPartBytes(
  limits: PartLimits,
  at: { lengthBytes: number | null; offsetBytes: number; nextNumber: number },
): number {
  const numbersLeft = Math.max(Math.floor((limits.maxParts - at.nextNumber + 1) * USABLE), 1)
  if (at.lengthBytes !== null)
    return clamp(ceilMiB((at.lengthBytes - at.offsetBytes) / numbersLeft), limits.maxPartBytes)
  return clamp(ceilMiB((at.offsetBytes * DEFERRED_GROWTH) / limits.maxParts), limits.maxPartBytes)
}

/** Whether an interrupted part may end here. If not, its bytes become a tail. */
export function mayCloseEarly(
  limits: PartLimits,
  at: { lengthBytes: number | null; offsetBytes: number; nextNumber: number; partBytes: number },
): boolean {
  if (limits.equalParts || at.partBytes < MIN_PART_BYTES) return false
  // Without a known length, the number of remaining parts is unknown: interruptions may use up at most half of the
  // numbers.
  if (at.lengthBytes === null) return at.nextNumber <= limits.maxParts / 2
  const remaining = at.lengthBytes - at.offsetBytes - at.partBytes
  return Math.floor((limits.maxParts - at.nextNumber) * USABLE) * limits.maxPartBytes >= remaining
}

/** A part's number, and the offset at which it starts. */
export type PartStart = { number: number; startOffset: number }

/** What is known about a request's parts before its bytes arrive. */
export type PartPlan = ReturnType<typeof planParts>

/**
 * Plans how to cut an upload into parts. A provider limits the number of parts, and interruptions may end parts
 * early, so the next part's size is the number of remaining bytes divided by the remaining part numbers.
 */
export function planParts(
  limits: PartLimits,
  upload: {
    lengthBytes: number | null
    /** The size of every part, if the provider requires all of them to be equal. */
    partBytes: number | null
    /** True for a lane: even a single part of it is not the entire file. */
    isLane?: boolean
    /** The offset at which the request's body ends, if its length is declared. */
    requestEndOffset: number | undefined
  },
) {
  const { lengthBytes, partBytes, isLane, requestEndOffset = Number.POSITIVE_INFINITY } = upload
  const end = lengthBytes ?? Number.POSITIVE_INFINITY
  /** The offset at which a part ends if nothing interrupts it. */
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
    /**
     * The offset at which the part will end. Undefined if there will be no such part: the bytes become a tail or an
     * entire file, or there are none.
     */
    endOffset(at: PartStart): number | undefined {
      const { number, startOffset } = at
      if (startOffset >= Math.min(end, requestEndOffset) || number > limits.maxParts) return undefined
      const endOffset = Math.min(targetOffset(at), end)
      if (startOffset === 0 && endOffset === end && !isLane) return undefined
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
