import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { readOptions } from '../../../scripts/read-options.ts'
import { startPostgres } from '../../../test/support/postgres.ts'
import { BALANCERS, type BalancerKind, findBalancer } from '../../../test/support/shipped-balancer.ts'
import { removeWithThisProcess } from '../../../test/support/until-exit.ts'
import { openStage } from '../stage.ts'
import { type Ended, openCluster } from './cluster.ts'
import { changesFor, openIngress } from './ingress.ts'
import { type Client, type Seen, sendUntil } from './load.ts'

/**
 * `npm run drill -- rollout`: replaces all upload nodes twice during uploads through HAProxy and nginx, with the
 * chart's timing: once in a rollout, and once by draining machines. No upload may fail or start over, every object must
 * equal its source, and every node must exit within its grace period without SIGKILL. Automatic client retries, which
 * users do not see, are printed.
 */
const MiB = 1024 * 1024
/** The bandwidth of each client's connection. */
const BYTES_PER_SECOND = 2 * MiB
const CLIENTS: Client[] = [
  ...Array.from({ length: 4 }, () => ({ chunkBytes: 4 * MiB, fileBytes: 12 * MiB })),
  ...Array.from({ length: 2 }, () => ({ chunkBytes: Number.POSITIVE_INFINITY, fileBytes: 60 * MiB })),
  ...Array.from({ length: 2 }, () => ({ chunkBytes: Number.POSITIVE_INFINITY, fileBytes: 64 * 1024 })),
]
const BEFORE_MS = seconds(3)

async function drill(postgresUrl: string, kind: BalancerKind): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-rollout-'))
  const removeFolder = removeWithThisProcess(folder)
  const socket = join(folder, 'socket')
  const stage = await openStage({
    postgresUrl,
    balancer: kind,
    bytesPerSecond: BYTES_PER_SECOND,
    changes: changesFor(kind, socket),
  })
  const running = stage.ports.map((port, at) => ({ port, node: stage.nodes[at]! }))
  const ingress = openIngress(stage.balancer, socket)
  await ingress.lead(stage.ports)
  const cluster = openCluster({ ingress, start: stage.start, running })
  const stop = new AbortController()
  const sending = sendUntil(stage, CLIENTS, stop.signal)
  await sleep(BEFORE_MS)
  await cluster.rollOut()
  await cluster.drain()
  const ended = await cluster.ended()
  stop.abort()
  const seen = await sending
  const arrived = await stage.arrived(seen.sources)
  await cluster.close()
  await stage.close()
  removeFolder()
  return judge(kind, { seen, arrived, ended })
}

type Outcome = { seen: Seen; arrived: { created: number; whole: number }; ended: Ended[] }

function judge(kind: BalancerKind, { seen, arrived, ended }: Outcome): boolean {
  const files = seen.sources.size
  const slowest = Math.max(...ended.map(({ seconds: took }) => took))
  const ok =
    seen.errors.length === 0 &&
    arrived.created === files &&
    arrived.whole === files &&
    ended.every(({ code, killed }) => code === 0 && !killed)
  console.log(
    `${ok ? 'ok  ' : 'FAIL'}  ${kind}: ${arrived.whole} of ${files} files arrived complete, ${arrived.created - files} started over, ${seen.errors.length} errors; ` +
      `${ended.length} nodes exited, the slowest after ${slowest.toFixed(1)} s, ${ended.filter(({ killed }) => killed).length} by SIGKILL`,
  )
  for (const [what, times] of seen.repeated) console.log(`      retried by the client: ${times} x ${what}`)
  for (const error of seen.errors) console.log(`      ${error}`)
  return ok
}

async function main(): Promise<boolean> {
  const { values } = readOptions('npm run drill -- rollout [--balancer <name>]', {
    options: { balancer: { type: 'string' } },
  })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
  const postgres = await startPostgres()
  let well = true
  for (const kind of BALANCERS.filter((name) => !values.balancer || values.balancer === name)) {
    if (!findBalancer(kind)) {
      console.log(`skipped: ${kind} is not installed`)
      continue
    }
    well = (await drill(postgres.url, kind)) && well
  }
  await postgres.stop()
  return well
}

process.exit((await main()) ? 0 : 1)
