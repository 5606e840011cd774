import { expect, it } from 'vitest'
import { WriteQueue } from './write-queue.ts'

const MiB = 1024 * 1024

/** Single bytes at every second offset, each in a packet of 32 KiB, starting ahead of the first missing byte. */
function writeAhead(count: number, allAhead: { bytes: number; mostBytes: number }) {
  const queue = new WriteQueue({ offsetBytes: 0, aheadBytes: 4 * MiB, allAhead, idleMs: 1000 })
  let kept = 0
  const packet = Buffer.alloc(32 * 1024)
  for (let n = 1; n <= count; n++)
    queue.add(2 * n, packet.subarray(n % 100, (n % 100) + 1), (error) => (kept += error ? 0 : 1))
  return { queue, kept }
}

it('counts what a write takes in memory, however few bytes it has', () => {
  const allAhead = { bytes: 0, mostBytes: MiB }
  const { queue, kept } = writeAhead(10_000, allAhead)
  expect(kept).toBe(1024)
  queue.drop(new Error('closed'))
  expect(allAhead.bytes).toBe(0)
})

it('reports the missing bytes in front of any number of writes', () => {
  const { queue, kept } = writeAhead(200_000, { bytes: 0, mostBytes: 1024 * MiB })
  expect(kept).toBe(200_000)
  expect(queue.gap).toEqual({ fromBytes: 0, toBytes: 2 })
})

it('keeps only the bytes of a write, not the packet that it arrived in', () => {
  const { queue } = writeAhead(1, { bytes: 0, mostBytes: MiB })
  const taken: Buffer[] = []
  queue.start(
    (chunk) => {
      taken.push(chunk)
      return chunk.length
    },
    () => {},
  )
  queue.add(0, Buffer.alloc(2), () => {})
  queue.stop()
  expect(taken.map(({ length }) => length)).toEqual([2, 1])
  expect(taken[1]!.buffer.byteLength).toBe(1)
})
