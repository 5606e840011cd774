import { crc32 } from 'node:zlib'
import type { MemoryBudget } from './memory-budget.ts'

/**
 * The bytes of a part as they arrive: a list of the chunks themselves, counted against the budget, with their
 * running CRC32. Chunks of a trickle are gathered on pages, since each has a price of its own.
 */
export type PartBuffer = {
  readonly chunks: readonly Buffer[]
  readonly bytes: number
  readonly crc32: number
  /** When the first byte came. */
  readonly sinceMs: number
  push(chunk: Buffer, nowMs: number): void
  /** Gives the memory back; the chunks are gone after. */
  free(): void
}

const SMALL_CHUNK_BYTES = 4096
const PAGE_BYTES = 16_384

export function createPartBuffer(budget: Pick<MemoryBudget, 'take' | 'give'>): PartBuffer {
  let chunks: Buffer[] = []
  let bytes = 0
  let heldBytes = 0
  let crc = 0
  let sinceMs = 0
  let page: Buffer | undefined
  let pageUsed = 0

  const hold = (n: number) => {
    heldBytes += n
    budget.take(n)
  }
  const gather = (chunk: Buffer) => {
    if (!page || pageUsed + chunk.length > PAGE_BYTES) {
      page = Buffer.allocUnsafeSlow(PAGE_BYTES)
      pageUsed = 0
      chunks.push(page.subarray(0, 0))
      hold(PAGE_BYTES)
    }
    chunk.copy(page, pageUsed)
    pageUsed += chunk.length
    // The last entry is always the page that is being filled.
    const start = chunks.at(-1)!.byteOffset - page.byteOffset
    chunks[chunks.length - 1] = page.subarray(start, pageUsed)
  }
  return {
    get chunks() {
      return chunks
    },
    get bytes() {
      return bytes
    },
    get crc32() {
      return crc
    },
    get sinceMs() {
      return sinceMs
    },
    push(chunk, nowMs) {
      if (bytes === 0) sinceMs = nowMs
      bytes += chunk.length
      crc = crc32(chunk, crc)
      if (chunk.length < SMALL_CHUNK_BYTES) return gather(chunk)
      // What follows begins a new entry, behind this one.
      page = undefined
      chunks.push(chunk)
      hold(chunk.length)
    },
    free() {
      budget.give(heldBytes)
      chunks = []
      page = undefined
      heldBytes = 0
    },
  }
}
