import { expect, it } from 'vitest'
import { firstWorking, storeOptions } from './store-options.ts'

const store = (id: string, name: string, ok?: boolean) => ({
  id,
  name,
  bucket: 'demo',
  check: ok === undefined ? null : { ok },
})

it('names the bucket only if two Data Stores share a name, and says which ones do not work', () => {
  const stores = [
    store('a', 'Failing', false),
    store('b', 'Rejecting', true),
    store('c', 'Main'),
    store('d', 'Main'),
  ]
  const options = storeOptions(stores, [{ id: 'b' }])
  expect(options.map(({ label }) => label)).toEqual([
    'Failing, does not accept uploads',
    'Rejecting, does not accept uploads',
    'Main (demo)',
    'Main (demo)',
  ])
  expect(firstWorking(options)).toBe('c')
})
