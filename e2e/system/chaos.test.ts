import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { expect, inject, it } from 'vitest'
import { descendantsOf, isAlive } from '../../test/support/processes.ts'
import { runChaos } from '../chaos/run.ts'

it('everything agrees to the byte after a while of kills, freezes, restarts, cuts and faults', async () => {
  const seed = process.env.CHAOS_SEED ?? randomBytes(4).toString('hex')
  const lines: string[] = []
  const say = (line: string) => void lines.push(line)
  const { counts, violations } = await runChaos({
    seed,
    forMs: 15_000,
    postgresUrl: inject('postgresUrl'),
    say,
  })
  expect(violations, `CHAOS_SEED=${seed}\n${lines.join('\n')}`).toEqual([])
  expect(counts.uploads).toBeGreaterThan(0)
  expect(counts.disturbances).toBeGreaterThan(0)
}, 400_000)

it('leaves no process behind when it is interrupted', async () => {
  const run = spawn(process.execPath, ['e2e/chaos/run.ts', '--minutes', '5'], {
    env: { ...process.env, DATABASE_URL: '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(run, 'exit')
  for await (const line of createInterface(run.stdout)) if (line.includes('the nodes are up')) break
  const begun = descendantsOf(run.pid!)
  // Four nodes, the bucket and PostgreSQL, at least.
  expect(begun.length).toBeGreaterThanOrEqual(6)
  run.kill('SIGINT')
  expect(await exited).toEqual([1, null])
  await expect.poll(() => begun.filter(isAlive), { timeout: 20_000 }).toEqual([])
}, 120_000)
