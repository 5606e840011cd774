/**
 * The CRC64 that Azure verifies (CRC-64/NVME), in base64 as in x-ms-content-crc64.
 *
 * JavaScript cannot multiply without carries, and with a table, this would take longer than MD5. But the CRC64's
 * polynomial divides the sum of x^(8 * SPAN) and of x^(8 * n) for each number in TAPS. So a byte can be removed if it is
 * added (XOR) to those that follow it at the distances SPAN - n. That takes only loads and XORs, of 16 bytes at a time
 * in WebAssembly, and leaves the last bytes, for which a table is fast enough.
 */
const SPAN = 1622
const TAPS = [0, 174, 262, 534, 774, 1339, 1502, 1537]

/** How many bytes a round of the loop folds: fewer than the shortest distance. */
const STEP = 64
/** The folded bytes that the following ones need. */
const HISTORY = 2048
const PAGES = 4
/** Starting with ones inverts this many bytes. */
const START_BYTES = 8

const { memory, fold } = assemble()
const { low: LOW, high: HIGH } = makeTable()

export function crc64(chunks: readonly Uint8Array[], bytes: number): string {
  const isInverted = bytes >= START_BYTES
  let low = isInverted ? 0 : -1
  let high = low
  for (const byte of foldAll(chunks, { bytes, isInverted })) {
    const entry = (low ^ byte) & 0xff
    low = ((low >>> 8) | (high << 24)) ^ LOW[entry]!
    high = (high >>> 8) ^ HIGH[entry]!
  }
  const value = Buffer.alloc(8)
  value.writeInt32LE(~low, 0)
  value.writeInt32LE(~high, 4)
  return value.toString('base64')
}

/** Returns fewer bytes with the same CRC64. */
function foldAll(
  chunks: readonly Uint8Array[],
  { bytes, isInverted }: { bytes: number; isInverted: boolean },
): Uint8Array {
  memory.fill(0, 0, HISTORY)
  let [start, end] = [HISTORY, HISTORY]
  let left = wholeSteps(Math.max(bytes - SPAN, 0))
  let toInvert = isInverted ? START_BYTES : 0
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; ) {
      if (end === memory.length) {
        memory.copyWithin(0, start - HISTORY)
        end -= start - HISTORY
        start = HISTORY
      }
      const taken = chunk.subarray(at, at + memory.length - end)
      memory.set(taken, end)
      at += taken.length
      for (let n = end; n < end + taken.length && toInvert > 0; n++, toInvert--) memory[n]! ^= 0xff
      end += taken.length
      const ready = Math.min(wholeSteps(end - start), left)
      if (ready > 0) fold(start - SPAN, start - SPAN + ready)
      start += ready
      left -= ready
    }
  const rest = memory.subarray(start, end)
  for (const distance of TAPS.map((tap) => SPAN - tap))
    for (let n = 0; n < Math.min(distance, rest.length); n++) rest[n]! ^= memory[start + n - distance]!
  return rest
}

const wholeSteps = (bytes: number): number => Math.floor(bytes / STEP) * STEP

/** The usual table for one byte, in two halves. */
function makeTable() {
  const low = new Int32Array(256)
  const high = new Int32Array(256)
  for (let byte = 0; byte < 256; byte++) {
    let value = BigInt(byte)
    for (let bit = 0; bit < 8; bit++) value = value & 1n ? (value >> 1n) ^ 0x9a6c9329ac4bc9b5n : value >> 1n
    low[byte] = Number(BigInt.asIntN(32, value))
    high[byte] = Number(BigInt.asIntN(32, value >> 32n))
  }
  return { low, high }
}

/**
 * A module with a memory and `fold(from, to)`, which folds the bytes from `from + SPAN` to `to + SPAN`. The numbers are
 * instructions of the WebAssembly specification (https://webassembly.github.io/spec/core/binary/).
 */
function assemble(): { memory: Uint8Array; fold(from: number, to: number): void } {
  const load = (offset: number) => [...[0x20, 0], ...[0xfd, 0x00, 0, ...leb(offset)]] // local.get 0, v128.load
  const step = (at: number) => [
    ...[0x20, 0, ...load(SPAN + at)],
    ...TAPS.flatMap((tap) => [...load(tap + at), 0xfd, 0x51]), // v128.xor
    ...[0xfd, 0x0b, 0, ...leb(SPAN + at)], // v128.store
  ]
  const steps = Array.from({ length: STEP / 16 }, (_, n) => step(16 * n)).flat()
  const next = [...[0x20, 0, 0x41, ...leb(STEP), 0x6a, 0x22, 0], ...[0x20, 1, 0x49]] // from += STEP; from < to
  const body = [0, ...[0x03, 0x40, ...steps, ...next, 0x0d, 0, 0x0b], 0x0b] // loop … br_if 0
  const section = (id: number, content: number[]) => [id, ...leb(content.length), ...content]
  const name = (text: string) => [text.length, ...Buffer.from(text)]
  const code = Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [1, 0x60, 2, 0x7f, 0x7f, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, PAGES]),
    ...section(7, [2, ...name('memory'), 2, 0, ...name('fold'), 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  ])
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(code))
  const { memory, fold } = exports as { memory: WebAssembly.Memory; fold(from: number, to: number): void }
  return { memory: new Uint8Array(memory.buffer), fold }
}

/** Integers as WebAssembly encodes them. Signed ones look the same up to 63, so STEP has a second byte. */
function leb(value: number): number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...leb(value >>> 7)]
}
