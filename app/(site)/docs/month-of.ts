import { nextPartBytes, partLimits } from '#lib/uploads/rules/part-plan.ts'

const MiB = 1024 * 1024
/** Most providers allow 10,000 parts; the largest part depends on a server's memory, and only matters for huge files. */
const LIMITS = partLimits({ maxParts: 10_000, equalParts: false }, 512 * MiB)

/** What a month of uploads amounts to, without interruptions. */
export function monthOf({
  files,
  fileBytes,
  freeTierBytes,
}: Record<'files' | 'fileBytes' | 'freeTierBytes', number>) {
  const bytes = files * fileBytes
  const paidBytes = freeTierBytes === 0 ? 0 : Math.max(0, bytes - freeTierBytes)
  return { bytes, paidBytes, requests: files * requestsOf(fileBytes) }
}

/** A file that fits into one part is a single PutObject. */
function requestsOf(lengthBytes: number): number {
  const partBytes = nextPartBytes(LIMITS, { lengthBytes, offsetBytes: 0, nextNumber: 1 })
  const parts = Math.max(1, Math.ceil(lengthBytes / partBytes))
  return parts === 1 ? 1 : parts + 2
}
