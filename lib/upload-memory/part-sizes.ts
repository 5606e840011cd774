const MiB = 1024 * 1024

/** The S3 minimum for every part except the last. */
export const MIN_PART_BYTES = 5 * MiB
export const USUAL_PART_BYTES = 8 * MiB
export const MAX_PART_BYTES = 512 * MiB

/**
 * An eighth of the memory budget, so that one upload cannot take all of it. Processes that share a budget use an eighth
 * of the total, so that any of them can continue an upload that another process started, but at most half of their own
 * share.
 */
export function largestPartBytes(memoryBytes: number, shareBytes = memoryBytes): number {
  return Math.max(
    Math.min(MAX_PART_BYTES, floorMiB(memoryBytes / 8), floorMiB(shareBytes / 2)),
    USUAL_PART_BYTES,
  )
}

function floorMiB(bytes: number): number {
  return Math.floor(bytes / MiB) * MiB
}
