import { execFile } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { PRELOADED } from '../support/sluice.ts'
import { PLANTED_FAULTS } from './planted-faults.ts'

const run = promisify(execFile)
/** The seeds are always the same, from 1 up. The nightly run explores ten thousand others. */
const SCHEDULES = 8

/** The simulation replaces its process's clock and timers, so it has its own process. */
describe('the simulation', () => {
  const command = (...args: string[]) => {
    const server = ['--server', inject('postgresUrl'), '--template', inject('migrated')]
    return [...PRELOADED, 'test/simulation/run.ts', ...server, ...args]
  }
  const simulate = async (...args: string[]) => {
    try {
      return (await run(process.execPath, command(...args), { maxBuffer: 2 ** 26 })).stdout
    } catch (failed) {
      const { stdout, stderr } = failed as { stdout: string; stderr: string }
      throw new Error(stdout + stderr)
    }
  }

  it(`finds nothing wrong in ${SCHEDULES} schedules, whose traces depend only on their seeds`, async () => {
    const last = String(SCHEDULES)
    // The two searches share the cores, so that each disturbs the other. The last seed runs in both.
    const [all, again] = await Promise.all([
      simulate('--seeds', last, '--processes', '1', '--hashes'),
      simulate('--from', last, '--seeds', '1', '--hashes'),
    ])
    expect(all).toMatch(new RegExp(`^${SCHEDULES} seeds, `, 'm'))
    const [hash] = all.match(new RegExp(`^${SCHEDULES} [0-9a-f]{16}$`, 'm'))!
    expect(again).toContain(hash)
  }, 300_000)

  it('survives a death before, after and during each step around a decision', {
    tags: 'long',
    timeout: 300_000,
  }, async () => {
    const plots = (await simulate('--deaths', '--processes', '1')).trim().split('\n')
    const survived = expect.stringMatching(/: [1-9]\d+ deaths, each of them survived$/)
    expect(plots).toEqual(Array(4).fill(survived))
  })

  it('finds a planted fault', async () => {
    const found = await simulate('--fault', 'the event is written after the transaction', '--processes', '1')
    expect(found).toMatch(/^found by seed \d+: .*\(one event per status change\)$/m)
  }, 300_000)

  it.each(PLANTED_FAULTS)('can still plant this fault in the core: $name', ({ edits }) => {
    const core = globSync('lib/{uploads,concatenation,repairs,recovery,hooks,workspace/usage}/**/*.ts', {
      exclude: ['**/*.test.ts'],
    })
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n')
    for (const { find } of edits)
      expect(core.split(find), `test/simulation/planted-faults.ts: ${find}`).toHaveLength(2)
  })
})
