import { fastCrc32 } from '../../platform/kernel/fast-crc32.ts'
import type { MemoryAccount } from '../../upload-memory/memory-budget.ts'
import type { Hashed } from '../rules/file-hash.ts'

/** A part's bytes as they arrive, on pages that count against the budget, with their running CRC32. */
export class PartBuffer {
  readonly #memory: Pick<MemoryAccount, 'pages' | 'take' | 'give' | 'reading'>
  #pages: Buffer[] = []
  #bytes = 0
  #heldBytes = 0
  #room = 0
  #crc = 0
  #sinceMs = 0
  /** How many readers the buffer still has, and whether to free it once they are done. */
  #readers = 0
  #isDone = false
  /** The SHA-256 of the file up to the end of these bytes, if the Pipe computes it. Set once the buffer is complete. */
  hashed: Hashed | undefined

  constructor(memory: Pick<MemoryAccount, 'pages' | 'take' | 'give' | 'reading'>) {
    this.#memory = memory
  }

  get chunks(): readonly Buffer[] {
    const pages = this.#pages
    return pages.map((page, at) =>
      at === pages.length - 1 ? page.subarray(0, page.length - this.#room) : page,
    )
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The memory that its pages take. */
  get heldBytes(): number {
    return this.#heldBytes
  }

  get crc32(): number {
    return this.#crc
  }

  /** The time at which the first byte arrived. */
  get sinceMs(): number {
    return this.#sinceMs
  }

  /** A contiguous copy of a range; defaults to the entire buffer. */
  joined(fromBytes = 0, toBytes = this.#bytes): Buffer {
    let at = 0
    const pieces = this.chunks.map((chunk) => {
      const piece = chunk.subarray(Math.max(fromBytes - at, 0), Math.max(toBytes - at, 0))
      at += chunk.length
      return piece
    })
    // During a push, or after `free`, the pages do not match the length and the checksum.
    if (at !== this.#bytes)
      throw new Error(`The pages of a part of ${this.#bytes} bytes contain ${at} bytes.`)
    return Buffer.concat(pieces)
  }

  push(chunk: Buffer, nowMs: number): void {
    if (this.#bytes === 0) this.#sinceMs = nowMs
    this.#bytes += chunk.length
    this.#crc = fastCrc32(chunk, this.#crc)
    for (let from = 0; from < chunk.length; ) {
      if (this.#room === 0) this.#addPage()
      const page = this.#pages.at(-1)!
      const copied = chunk.copy(page, page.length - this.#room, from)
      from += copied
      this.#room -= copied
    }
  }

  /** Postpones the effect of `free` until `done` settles, because the pages are being read. */
  keepUntil(done: Promise<unknown>): void {
    this.#readers += 1
    const end = () => {
      this.#readers -= 1
      if (this.#isDone) this.free()
    }
    this.#memory.reading(done.then(end, end))
  }

  /** Returns the pages for reuse once nobody is sending them. */
  free(): void {
    this.#isDone = true
    if (this.#readers > 0) return
    for (const page of this.#pages) this.#memory.pages.give(page)
    this.#memory.give(this.#heldBytes)
    this.#pages = []
    this.#heldBytes = 0
    this.#room = 0
  }

  #addPage(): void {
    const memory = this.#memory
    const page = this.#pages.length === 0 ? memory.pages.takeFirst() : memory.pages.take()
    this.#pages.push(page)
    this.#room = page.length
    this.#heldBytes += page.length
    memory.take(page.length)
  }
}
