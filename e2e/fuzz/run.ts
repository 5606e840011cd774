import { randomBytes } from 'node:crypto'
import { parseArgs } from 'node:util'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { buildIfNeeded } from '../../scripts/build.ts'
import { randomOf } from '../../test/support/random.ts'
import { ask } from '../../test/support/raw-http.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo, type Target, targetOf } from '../../test/support/target.ts'
import { holdSockets } from './hold-sockets.ts'
import { knowTarget, sendShaped } from './send-shaped.ts'
import { shapeRequest } from './shape-requests.ts'

/**
 * `npm run drill -- fuzz --requests 20000 [--seed x]`: sends requests of every kind to its own Sluice, each of them
 * valid, almost valid or noise. It fails on a 5xx, on a socket that stays open after its deadline, and if memory keeps
 * growing.
 */
const SIDE_BY_SIDE = 8
const SAMPLES = 40
/** The longest request deadline (that of an idle upload) plus the time between two checks. */
const LONGEST_MS = seconds(130)
/** The factor by which memory use may grow from the second quarter of the run to the last. */
const GROWTH = 1.15

const { values } = parseArgs({
  options: { requests: { type: 'string', default: '20000' }, seed: { type: 'string' } },
})
const requests = Number(values.requests)
const seed = values.seed ?? randomBytes(4).toString('hex')

await buildIfNeeded()
const folder = temporaryFolder()
const sluice = await startSluice({ DATA_DIR: folder.path, FREE_TIER_BYTES: '0' })
const target = targetOf(readDemo(folder.path))
const failures: string[] = []
try {
  await fuzz()
} finally {
  await sluice.stop()
  folder[Symbol.dispose]()
}
for (const failure of failures) console.log(failure)
console.log(failures.length === 0 ? 'passed' : `${failures.length} failures; repeat with --seed ${seed}`)
process.exit(failures.length === 0 ? 0 : 1)

async function fuzz(): Promise<void> {
  const known = await knowTarget(target)
  const held = holdSockets(new URL(target.baseUrl), known.uploadPath)
  const random = randomOf(seed)
  const memory: number[] = []
  const counts = new Map<string, number>()
  let sent = 0
  const work = async () => {
    while (sent < requests) {
      const n = sent++
      if (n % Math.ceil(requests / SAMPLES) === 0)
        memory.push(await gauge(target, 'process_resident_memory_bytes'))
      const shaped = shapeRequest(random.fork(String(n)), known)
      const status = await sendShaped(target.baseUrl, shaped).catch((error: Error) => error.message)
      const key = `${shaped.kind} ${String(status).slice(0, 1)}xx`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      if (typeof status === 'string' || status >= 500) failures.push(`${status}: ${JSON.stringify(shaped)}`)
    }
  }
  await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work))
  for (const [key, count] of [...counts].sort()) console.log(`${key}: ${count}`)
  judgeMemory(memory)
  const open = await held.openAfter(LONGEST_MS)
  console.log(`sockets held: ${held.count}, open after their deadlines: ${open.length}`)
  failures.push(...open.map((name) => `a socket is still open after its deadline: ${name}`))
}

function judgeMemory(samples: number[]): void {
  const quarter = Math.floor(samples.length / 4)
  const median = (of: number[]) => of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)]! / 2 ** 20
  const [early, late] = [median(samples.slice(quarter, 2 * quarter)), median(samples.slice(-quarter))]
  console.log(`memory: ${early.toFixed(0)} MiB in the second quarter, ${late.toFixed(0)} MiB in the last`)
  if (late > early * GROWTH) failures.push('memory grew')
}

async function gauge({ baseUrl, metricsToken }: Target, name: string): Promise<number> {
  const { body } = await ask('GET', new URL('/metrics', baseUrl), { Authorization: `Bearer ${metricsToken}` })
  return Number(body.match(new RegExp(`^${name} (\\S+)$`, 'm'))?.[1])
}
