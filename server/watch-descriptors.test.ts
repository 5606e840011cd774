import { existsSync } from 'node:fs'
import { expect, it } from 'vitest'
import { createLogger } from '../lib/platform/log/log.ts'
import { countDescriptors, type Descriptors, watchDescriptors } from './watch-descriptors.ts'

it('logs once when the limit is near, and once when it is no longer near', () => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line).msg) })
  let found: Descriptors | undefined
  const watch = watchDescriptors(log, () => found)
  for (const open of [10, 91, 95, 85, 92, 79, 30]) {
    found = { open, limit: 100 }
    watch.look()
  }
  found = undefined
  watch.look()
  expect(lines).toEqual([
    'the limit on open files is near: connections will be lost',
    'the limit on open files is no longer near',
  ])
  watch.stop()
})

it.skipIf(!existsSync('/proc/self/limits'))("counts this process's descriptors", () => {
  const { open, limit } = countDescriptors()!
  expect(open).toBeGreaterThan(2)
  expect(limit).toBeGreaterThan(open)
})
