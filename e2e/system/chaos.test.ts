import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { descendantsOf, isAlive } from '../../test/support/processes.ts'
import { PRELOADED } from '../../test/support/sluice.ts'
import { createLog } from '../chaos/log.ts'
import { checkShares } from '../chaos/shares.ts'

it('leaves no process behind when interrupted', async () => {
  const run = spawn(process.execPath, [...PRELOADED, 'e2e/chaos/run.ts', '--minutes', '5', '--embedded'], {
    env: { ...process.env, DATABASE_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(run, 'exit')
  for await (const line of createInterface(run.stdout)) if (line.includes('the nodes are up')) break
  const begun = descendantsOf(run.pid!)
  // The bucket, the node, and its PostgreSQL, which has several processes.
  expect(begun.length).toBeGreaterThanOrEqual(6)
  run.kill('SIGINT')
  expect(await exited).toEqual([1, null])
  await expect.poll(() => begun.filter(isAlive), { timeout: 20_000 }).toEqual([])
}, 120_000)

/** Returns a node whose log shows how many requests of a thousand bytes each of its processes handled. */
function nodeOf(requests: number[]) {
  const line = (at: number) =>
    JSON.stringify({ process: `upload-${at + 1}`, route: '/pipes/:id/files/:id', bytesIn: 1000 })
  const lines = requests.flatMap((count, at) => Array.from({ length: count }, () => line(at)))
  return { output: () => ['not a log line', ...lines].join('\n') }
}

it.each([
  [[90, 100, 100, 130], []],
  [
    [90, 100, 100, 140],
    ['requests', 'bytes'],
  ],
  [
    [90, 100, 100, 0],
    ['requests', 'bytes'],
  ],
])(
  'reports, for processes that handled %j requests, the shares of %j as violations',
  (requests, expected) => {
    const log = createLog(() => {})
    checkShares({ nodes: [nodeOf(requests)] }, log, requests.length)
    expect(log.violations.map((text) => text.match(/shares of (\w+)/)?.[1])).toEqual(expected)
  },
)
