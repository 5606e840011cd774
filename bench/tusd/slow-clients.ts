import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { closeIdle, create, head, MiB, percentile, steadily, type Target } from '../load.ts'
import type { Finding } from '../report.ts'
import { MEMORY_BYTES } from '../sluice-site.ts'
import type { Contender } from './line-up.ts'

const CLIENTS = 1000
const BYTES_PER_SECOND = 10_000
/** By then, Sluice has more than half of its upload memory in use, and writes incomplete parts to PostgreSQL. */
const SETTLE_MS = 30_000
const HEADS = { perSecond: 50, seconds: 15 }

type Figures = { name: string; cpuSeconds: number; mib: number; p99Ms: number; inFlightBytes: number }

/** Clients that send small amounts until they are stopped. */
export type Crowd = { target: Target; clients: number; bytesPerSecond: number }

/** Simulates a thousand phones on bad networks, and one client that requests its offset. */
export async function benchSlowClients(contenders: Contender[]): Promise<Finding[]> {
  const able = contenders.filter(({ name }) => name === 'tusd' || name === 'Sluice')
  const all: Figures[] = []
  for (const contender of able) all.push(await crowd(contender))
  const theirs = all.find(({ name }) => name === 'tusd')!
  const ours = all.find(({ name }) => name === 'Sluice')!
  const finding = (
    what: string,
    of: (figures: Figures) => number,
    unit: string,
    digits: number,
    { wanted, holds }: Pick<Finding, 'wanted' | 'holds'>,
  ): Finding => ({
    what: `${CLIENTS.toLocaleString('en')} clients at ${BYTES_PER_SECOND / 1000} kB/s: ${what}`,
    measured: `${all.map((one) => `${one.name} ${of(one).toFixed(digits)}`).join(', ')} ${unit}`,
    wanted,
    holds,
    values: all.map((one) => ({ name: one.name, value: of(one), unit })),
  })
  const mostMib = 130 + (1.5 * ours.inFlightBytes) / MiB
  return [
    finding('CPU', ({ cpuSeconds }) => (cpuSeconds / HEADS.seconds) * 60, 's/minute', 1, {
      wanted: '≤ tusd',
      holds: ours.cpuSeconds <= theirs.cpuSeconds,
    }),
    finding('resident memory', ({ mib }) => mib, 'MiB', 0, {
      wanted: `≤ ${mostMib.toFixed(0)} MiB (130 MiB plus 1.5 times the data in flight)`,
      holds: ours.mib <= mostMib,
    }),
    finding('p99 of HEAD', ({ p99Ms }) => p99Ms, 'ms', 1, {
      wanted: '≤ tusd',
      holds: ours.p99Ms <= theirs.p99Ms,
    }),
  ]
}

/** Includes PostgreSQL's CPU. */
async function crowd({ name, target, usage, database }: Contender): Promise<Figures> {
  closeIdle()
  const url = await create(target, 100)
  // Like real clients, they run in a separate process.
  const args = [
    JSON.stringify({ target, clients: CLIENTS, bytesPerSecond: BYTES_PER_SECOND } satisfies Crowd),
  ]
  const slow = fork(join(import.meta.dirname, 'trickling-clients.ts'), args)
  await once(slow, 'message')
  await pause(SETTLE_MS)
  const latencies: number[] = []
  const [before, databaseBefore] = [await usage(), database()]
  await steadily(HEADS, async () => {
    const startedAt = performance.now()
    await head(target, url)
    latencies.push(performance.now() - startedAt)
  })
  const after = await usage()
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds + database() - databaseBefore
  slow.kill()
  await once(slow, 'exit')
  return {
    name,
    cpuSeconds,
    mib: after.rssBytes / MiB,
    p99Ms: percentile(latencies, 0.99),
    inFlightBytes: Math.min(CLIENTS * BYTES_PER_SECOND * (SETTLE_MS / 1000 + HEADS.seconds), MEMORY_BYTES),
  }
}
