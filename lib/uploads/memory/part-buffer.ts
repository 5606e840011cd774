import { fastCrc32 } from '../../platform/kernel/fast-crc32.ts'
import type { MemoryAccount } from './memory-budget.ts'
import { FIRST_PAGE_BYTES } from './page-pool.ts'

/** The bytes of a part as they arrive, on pages that count against the budget, with their running CRC32. */
export type PartBuffer = {
  readonly chunks: readonly Buffer[]
  readonly bytes: number
  /** The memory of its pages. */
  readonly heldBytes: number
  readonly crc32: number
  /** When the first byte came. */
  readonly sinceMs: number
  /** A copy of a range of it in one piece; by default of all of it. */
  joined(fromBytes?: number, toBytes?: number): Buffer
  push(chunk: Buffer, nowMs: number): void
  /** Gives the pages back, to be written over: nobody may still be sending them. */
  free(): void
}

export function createPartBuffer({
  pages,
  take,
  give,
}: Pick<MemoryAccount, 'pages' | 'take' | 'give'>): PartBuffer {
  let held: Buffer[] = []
  let bytes = 0
  let heldBytes = 0
  let room = 0
  let crc = 0
  let sinceMs = 0

  const addPage = () => {
    const page = held.length === 0 ? Buffer.allocUnsafeSlow(FIRST_PAGE_BYTES) : pages.take()
    held.push(page)
    room = page.length
    heldBytes += page.length
    take(page.length)
  }
  return {
    get chunks() {
      return held.map((page, at) => (at === held.length - 1 ? page.subarray(0, page.length - room) : page))
    },
    get bytes() {
      return bytes
    },
    get heldBytes() {
      return heldBytes
    },
    get crc32() {
      return crc
    },
    get sinceMs() {
      return sinceMs
    },
    joined(fromBytes = 0, toBytes = bytes) {
      let at = 0
      const pieces = this.chunks.map((chunk) => {
        const piece = chunk.subarray(Math.max(fromBytes - at, 0), Math.max(toBytes - at, 0))
        at += chunk.length
        return piece
      })
      // During a push, or after its pages were given back, its bytes do not match its length and checksum.
      if (at !== bytes) throw new Error(`A part of ${bytes} bytes has ${at} on its pages.`)
      return Buffer.concat(pieces)
    },
    push(chunk, nowMs) {
      if (bytes === 0) sinceMs = nowMs
      bytes += chunk.length
      crc = fastCrc32(chunk, crc)
      for (let from = 0; from < chunk.length; ) {
        if (room === 0) addPage()
        const page = held.at(-1)!
        const copied = chunk.copy(page, page.length - room, from)
        from += copied
        room -= copied
      }
    },
    free() {
      for (const page of held) pages.give(page)
      give(heldBytes)
      held = []
      heldBytes = 0
      room = 0
    },
  }
}
