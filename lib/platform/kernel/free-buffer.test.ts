import { expect, it } from 'vitest'
import { freeBuffer } from './free-buffer.ts'

it.each([1, 1000, 65_536])('frees the memory of %i bytes immediately', (bytes) => {
  const buffer = Buffer.allocUnsafeSlow(bytes)
  freeBuffer(buffer)
  expect(buffer.length).toBe(0)
})

it('does not free memory that other buffers share', () => {
  const pooled = Buffer.from('in the pool')
  freeBuffer(pooled)
  expect(pooled.toString()).toBe('in the pool')
  const page = Buffer.alloc(100, 'a')
  freeBuffer(page.subarray(0, 10))
  expect(page.toString()).toBe('a'.repeat(100))
})
