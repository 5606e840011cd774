/** A lane of a file: its range, and how many of the file's parts come before it. */
export type LaneRange = { id: string; firstByte: number; lengthBytes: number; partsBefore: number }

/** The most lanes that a file can have. */
export const MAX_LANES = 16

/**
 * Divides a file into at most `most` lanes of about the same length, each of them a whole number of parts. Only the last
 * part of the last lane may be smaller.
 */
export function planLanes(
  { lengthBytes, partBytes }: { lengthBytes: number; partBytes: number },
  most: number,
): Omit<LaneRange, 'id'>[] {
  const parts = Math.ceil(lengthBytes / partBytes)
  const count = Math.min(most, parts)
  return Array.from({ length: count }, (_, n) => {
    const partsBefore = Math.floor((n * parts) / count)
    const firstByte = partsBefore * partBytes
    const endByte = Math.min(Math.floor(((n + 1) * parts) / count) * partBytes, lengthBytes)
    return { firstByte, lengthBytes: endByte - firstByte, partsBefore }
  })
}
