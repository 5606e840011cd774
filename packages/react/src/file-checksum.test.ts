import { randomBytes } from 'node:crypto'
import { crc32 as crc32OfNode } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { crc32, FileChecksum } from './file-checksum.ts'

const MIB = 1024 * 1024
const bufferOf = (bytes: Uint8Array) => new Uint8Array(bytes).buffer
const fieldOf = (bytes: Buffer) => {
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crc32OfNode(bytes))
  return `crc32=:${crc.toString('base64')}:`
}
const never = new AbortController().signal

it.each([0, 1, 3, 4, 15, 16, 17, 31, 64, 1000, 4099])(
  'computes the CRC32 of %d bytes, at once and in two pieces',
  (length) => {
    const bytes = randomBytes(length)
    expect(crc32(bufferOf(bytes))).toBe(crc32OfNode(bytes))
    const at = Math.floor(length / 3)
    const first = crc32(bufferOf(bytes.subarray(0, at)))
    expect(crc32(bufferOf(bytes.subarray(at)), first)).toBe(crc32OfNode(bytes))
  },
)

describe('the checksum of a file', () => {
  it('covers all its bytes, however often it is stopped', async () => {
    const bytes = randomBytes(5 * MIB + 3)
    const checksum = new FileChecksum(new Blob([bytes]))
    for (let n = 0; n < 4; n++) {
      const stopped = new AbortController()
      checksum.follow(0, stopped.signal)
      await new Promise(setImmediate)
      stopped.abort()
    }
    expect(await checksum.field(never)).toBe(fieldOf(bytes))
    expect(await new FileChecksum(new Blob([])).field(never)).toBe(fieldOf(Buffer.alloc(0)))
  })

  it('is awaited only by the last request, which starts at a part boundary', async () => {
    const size = 20 * MIB
    const checksum = new FileChecksum(new Blob([new Uint8Array(size)]))
    expect(checksum.endOfRequest(0, size)).toBe(16 * MIB)
    expect(checksum.endOfRequest(0, 5 * MIB)).toBe(5 * MIB)
    expect(checksum.endOfRequest(16 * MIB, size)).toBe(size)
    await checksum.field(never)
    expect(checksum.endOfRequest(0, size)).toBe(size)
    const small = new FileChecksum(new Blob([new Uint8Array(8 * MIB)]))
    expect(small.endOfRequest(0, 8 * MIB)).toBe(8 * MIB)
  })

  it('fails only requests that need it, if the file cannot be read', async () => {
    const gone = Object.assign(new Blob(['abc']), {
      slice: () => ({ arrayBuffer: () => Promise.reject(new Error('gone')) }),
    })
    const checksum = new FileChecksum(gone as unknown as Blob)
    checksum.follow(3, never)
    await expect(checksum.field(never)).rejects.toThrow('gone')
  })
})
