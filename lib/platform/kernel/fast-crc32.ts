import { createRequire } from 'node:module'
import { crc32 as crc32OfNode } from 'node:zlib'

type Crc32 = (bytes: Uint8Array, before?: number) => number

/**
 * Every byte of every upload passes through here. On x64, Node's implementation uses tables; the optional package uses
 * the processor's carry-less multiplication, which takes a third of the time. Without the package, this is Node's
 * implementation.
 */
export const fastCrc32: Crc32 = native() ?? crc32OfNode

function native(): Crc32 | undefined {
  try {
    return createRequire(import.meta.url)('@node-rs/crc32').crc32
  } catch {
    return undefined
  }
}
