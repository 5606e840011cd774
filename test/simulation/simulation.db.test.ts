import { execFile, spawn } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, inject, it } from 'vitest'
import { PLANTED_FAULTS } from './planted-faults.ts'

const run = promisify(execFile)
/** The seeds are always the same, from 1 up. The nightly run explores ten thousand others. */
const SCHEDULES = 60

/** The simulation replaces its process's clock and timers, so it has its own process. */
describe('the simulation', () => {
  const command = (...args: string[]) => {
    const server = ['--server', inject('postgresUrl'), '--template', inject('migrated')]
    return ['test/simulation/run.ts', ...server, ...args]
  }
  const simulate = async (...args: string[]) => {
    try {
      return (await run(process.execPath, command(...args), { maxBuffer: 2 ** 26 })).stdout
    } catch (failed) {
      const { stdout, stderr } = failed as { stdout: string; stderr: string }
      throw new Error(stdout + stderr)
    }
  }

  it(`finds nothing wrong in ${SCHEDULES} schedules`, async () => {
    expect(await simulate('--seeds', String(SCHEDULES))).toMatch(new RegExp(`^${SCHEDULES} seeds, `, 'm'))
  }, 300_000)

  it('survives a death before, after and during each step around a decision', async () => {
    const plots = (await simulate('--deaths', '--processes', '1')).trim().split('\n')
    const survived = expect.stringMatching(/: [1-9]\d+ deaths, each of them survived$/)
    expect(plots).toEqual(Array(4).fill(survived))
  }, 300_000)

  it('produces the same trace for the same seed, whatever ran before, even on a busy machine', async () => {
    // The two searches share the cores, so that each disturbs the other.
    const [before, later] = await Promise.all(
      ['1', '3'].map(async (from) => {
        const hashes = await simulate('--from', from, '--seeds', '4', '--hashes')
        return hashes.match(/^\d+ [0-9a-f]{16}$/gm)!
      }),
    )
    expect(before).toHaveLength(4)
    expect(later!.slice(0, 2)).toEqual(before!.slice(2))
  }, 300_000)

  it('finds a planted fault, and describes the shortest path to it', async () => {
    const found = await simulate('--fault', 'the event is written after the transaction', '--story')
    expect(found).toMatch(/^found by seed \d+: .*\(one event per status change\)$/m)
    const story = found.split('\n').filter((line) => /^ +\d+\.\d{3} s {2}/.test(line))
    expect(story.length).toBeLessThan(60)
    expect(story.join('\n')).toMatch(/the client of file-1 sends P\w+ [\s\S]*ledger: file-1 is transferred/)
  }, 300_000)

  it('says how to continue after Ctrl-C', async () => {
    const exploring = spawn(process.execPath, command('--from', '1001', '--seeds', '9000'), {
      detached: true,
    })
    let said = ''
    for await (const text of exploring.stdout) {
      // The first line is printed before the first seed. A terminal interrupts the entire process group.
      if (said === '') process.kill(-exploring.pid!, 'SIGINT')
      said += text
    }
    const [, reached, next, left] =
      /after (\d+) seeds in a row, none of which has failed\.\ncontinue with: .* --from (\d+) --seeds (\d+)\n/.exec(
        said,
      )!
    expect([Number(next), Number(left)]).toEqual([1001 + Number(reached), 9000 - Number(reached)])
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
