import { expect, it } from 'vitest'
import { commandLine } from './read-options.ts'

it.each([
  ['npm run admin -- rotate-keys', 'sluice-server rotate-keys'],
  [
    'npm run admin -- reconcile --since 2026-11-22T14:00:00Z',
    'sluice-server reconcile --since 2026-11-22T14:00:00Z',
  ],
])('%s is %s in the packed server', (npmRun, packed) => {
  expect(commandLine(npmRun, true)).toBe(packed)
  expect(commandLine(npmRun)).toBe(npmRun)
})
