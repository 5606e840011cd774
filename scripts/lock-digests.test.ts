import { expect, it } from 'vitest'
import { digestFaults } from './lock-digests.ts'

const integrity = `sha512-${'a'.repeat(86)}==`

it('requires a digest for each entry except bundled ones and our own packages', () => {
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
