import { crc32 } from 'node:zlib'
import type { MemoryBudget } from './memory-budget.ts'
import { PAGE_BYTES } from './page-pool.ts'

/** The bytes of a part as they arrive, on pages that count against the budget, with their running CRC32. */
export type PartBuffer = {
  readonly chunks: readonly Buffer[]
  readonly bytes: number
  readonly crc32: number
  /** When the first byte came. */
  readonly sinceMs: number
  push(chunk: Buffer, nowMs: number): void
  /** Gives the pages back, to be written over: nobody may still be sending them. */
  free(): void
}

export function createPartBuffer({
  pages,
  take,
  give,
}: Pick<MemoryBudget, 'pages' | 'take' | 'give'>): PartBuffer {
  let held: Buffer[] = []
  let bytes = 0
  let room = 0
  let crc = 0
  let sinceMs = 0

  const addPage = () => {
    held.push(pages.take())
    room = PAGE_BYTES
    take(PAGE_BYTES)
  }
  return {
    get chunks() {
      return held.map((page, at) => (at === held.length - 1 ? page.subarray(0, PAGE_BYTES - room) : page))
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
      for (let from = 0; from < chunk.length; ) {
        if (room === 0) addPage()
        const copied = chunk.copy(held.at(-1)!, PAGE_BYTES - room, from)
        from += copied
        room -= copied
      }
    },
    free() {
      for (const page of held) pages.give(page)
      give(held.length * PAGE_BYTES)
      held = []
      room = 0
    },
  }
}
