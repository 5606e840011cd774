import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { combineCrc32, crc32FromBase64, crc32ToBase64 } from './crc32.ts'

describe('combineCrc32', () => {
  it('computes the checksum of two consecutive ranges', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        expect(combineCrc32(crc32(a), crc32(b), b.length)).toBe(crc32(Buffer.concat([a, b])))
      }),
    )
  })

  it('works for consecutive ranges of many lengths', () => {
    const parts = [1, 0, 7, 4096, 65_537, 1_000_003].map((length, n) => Buffer.alloc(length, n + 1))
    const combined = parts.reduce((crc, part) => combineCrc32(crc, crc32(part), part.length), 0)
    expect(combined).toBe(crc32(Buffer.concat(parts)))
  })

  it('accepts lengths above 2^32', () => {
    let zeros = { crc: crc32(Buffer.alloc(1)), length: 1 }
    while (zeros.length <= 2 ** 32) {
      zeros = { crc: combineCrc32(zeros.crc, zeros.crc, zeros.length), length: zeros.length * 2 }
    }
    const halves = combineCrc32(zeros.crc, zeros.crc, zeros.length)
    const shifted = combineCrc32(combineCrc32(zeros.crc, crc32(Buffer.alloc(1)), 1), zeros.crc, zeros.length)
    expect(combineCrc32(halves, crc32(Buffer.alloc(1)), 1)).toBe(shifted)
  })
})

describe('CRC32 as S3 writes it', () => {
  it('is the base64 of four bytes, most significant first', () => {
    expect(crc32ToBase64(crc32('123456789'))).toBe('y/Q5Jg==')
    expect(crc32FromBase64('y/Q5Jg==')).toBe(0xcbf43926)
  })

  it.each(['', 'y/Q5Jg', 'y/Q5Jh==', 'y/Q5JgAA', '!!!!!!=='])('refuses %j', (text) => {
    expect(crc32FromBase64(text)).toBeUndefined()
  })
})
