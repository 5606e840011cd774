import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { mountSmallDisk } from '../../../test/support/small-disk.ts'
import { openOutput } from './output.ts'

it('keeps up to 1 MiB of lines while the disk is full, and reports once how many were lost', async ({
  skip,
}) => {
  using disk = mountSmallDisk(4)
  if (!disk) return skip('This user may not mount a small file system.')
  const file = join(disk.path, 'log')
  const fd = openSync(file, 'a')
  const told: number[] = []
  const output = openOutput((lines) => {
    told.push(lines)
    output.write(`${lines} lost\n`)
  }, fd)
  const line = (n: number) => `${String(n).padStart(1023, '0')}\n`
  disk.fill()
  // The first line is already being written when the others arrive.
  for (let n = 0; n < 1100; n++) output.write(line(n))
  expect(readFileSync(file, 'utf8')).toBe('')
  disk.free()
  const kept = Array.from({ length: 1025 }, (_, n) => line(n)).join('')
  await expect.poll(() => readFileSync(file, 'utf8').slice(kept.length)).toBe('75 lost\n')
  expect(readFileSync(file, 'utf8').startsWith(kept)).toBe(true)
  expect(told).toEqual([75])
  closeSync(fd)
})
