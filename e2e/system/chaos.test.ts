import { randomBytes } from 'node:crypto'
import { expect, inject, it } from 'vitest'
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
