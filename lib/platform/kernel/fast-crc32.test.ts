import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fastCrc32 } from './fast-crc32.ts'

it('computes the same checksum as zlib, for one piece or several, at any memory alignment', () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 4 })
  fc.assert(
    fc.property(pieces, fc.nat(7), (all, shift) => {
      let crc = 0
      for (const piece of all) {
        const shifted = Buffer.concat([Buffer.alloc(shift), piece]).subarray(shift)
        crc = fastCrc32(shifted, crc)
      }
      expect(crc).toBe(crc32(Buffer.concat(all)))
    }),
  )
  expect(fastCrc32(Buffer.from('123456789'))).toBe(0xcbf43926)
})
