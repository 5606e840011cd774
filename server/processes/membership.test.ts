import { expect, it } from 'vitest'
import { testRuntime } from '../../test/support/runtime.ts'
import { configOfMember, membershipsOf } from './membership.ts'

const MiB = 1024 * 1024
const SOCKET = '/run/sluice/pages'
const divide = (settings: Record<string, string>) => {
  const { config } = testRuntime({} as never, settings)
  return membershipsOf(config, SOCKET).map((membership) => ({
    ...membership,
    config: configOfMember(config, membership),
  }))
}

it('creates one process for each role, but several for uploads, which share the memory', () => {
  const all = divide({ PROCESSES: '4', UPLOAD_MEMORY_BYTES: String(1024 * MiB) })
  expect(all.map(({ name }) => name)).toEqual([
    'upload-1',
    'upload-2',
    'upload-3',
    'upload-4',
    'web',
    'worker',
  ])
  expect(all.map(({ config }) => [...config.roles].join())).toEqual([
    ...Array(4).fill('upload'),
    ...['web', 'worker'],
  ])
  for (const { config, pagesSocket } of all) {
    expect(config.uploadMemoryBytes * config.uploadMemoryShares).toBe(1024 * MiB)
    expect([config.processes, pagesSocket]).toEqual([1, SOCKET])
  }
})

it('relays nothing if no process serves pages', () => {
  const all = divide({ PROCESSES: '2', ROLES: 'upload,worker' })
  expect(all.map(({ name }) => name)).toEqual(['upload-1', 'upload-2', 'worker'])
  expect(all.map(({ pagesSocket }) => pagesSocket)).toEqual(Array(3).fill(undefined))
})

it.each([2, 4, 8, 16])(
  'stays within the total number of database connections with %i upload processes',
  (processes) => {
    const all = divide({ PROCESSES: String(processes) })
    const sum = all.reduce((connections, { config }) => connections + config.databaseConnections, 0)
    expect(sum).toBeLessThanOrEqual(Math.max(40, all.length * 5))
  },
)
