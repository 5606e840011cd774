import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { buildIfNeeded } from '../../scripts/build.ts'
import { misused, readOptions } from '../../scripts/read-options.ts'
import { stageServer } from '../../scripts/release/stage-server.ts'
import { CERTIFICATE } from '../../test/support/certificates.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { MiB } from '../load.ts'
import { COMPILED, type Sink, startSink } from '../processes.ts'
import { type Finding, type Section, type Value, writeReport } from '../report.ts'
import { judge, measure, WARM_UPS } from './compare.ts'
import { BY_DEFAULT, type Contender, lineUp, type Name, type Site, WAYS, type Way } from './line-up.ts'
import { LOADS } from './loads.ts'
import { benchSlowClients } from './slow-clients.ts'

/** Compares Sluice with tusd, the Go server, under the same loads. Writes docs/beside-tusd.md. */
const USAGE = 'npm run bench -- tusd [--tusd <path>] [--rounds <number>] [--only <words>]'
const { tusd, only, rounds } = readOptions(USAGE, {
  options: {
    tusd: { type: 'string', default: process.env.TUSD ?? 'tusd' },
    rounds: { type: 'string', default: '5' },
    only: { type: 'string' },
  },
}).values
const version = spawnSync(tusd, ['-version'], { encoding: 'utf8' })
if (version.error) misused(`There is no program ${tusd}: set its path with --tusd or TUSD`, USAGE)

async function benchWay(way: Way, site: Site): Promise<Finding[]> {
  const sink = await startSink(way === 'TLS to the bucket' ? CERTIFICATE : undefined)
  const { contenders, stop } = await lineUp(way, site, sink)
  const isAll = way === 'plain HTTP' || way === BY_DEFAULT
  const most = way === BY_DEFAULT ? { atRest: 200, afterLoads: 250 } : { atRest: 130, afterLoads: 130 }
  const found: Finding[] = []
  const add = (findings: Finding[]) => {
    for (const { what, measured, wanted, holds } of findings)
      console.log(`${holds ? 'met   ' : 'MISSED'}  ${what}: ${measured}; wanted ${wanted}`)
    found.push(...findings)
  }
  try {
    if (isAll && !only) add([await memory('memory at rest', contenders, most.atRest)])
    if (way === 'plain HTTP' && !only) add(await countRequests(contenders, sink))
    for (const load of LOADS)
      if ((!only || load.what.includes(only)) && !(way === BY_DEFAULT && load.crowded))
        add([judge(way, load, await measure(load, contenders, Number(rounds)))])
    if (way === 'plain HTTP' && (!only || 'slow clients'.includes(only)))
      add(await benchSlowClients(contenders))
    if (isAll && !only) {
      await pause(70_000)
      add([await memory('memory a minute after all loads', contenders, most.afterLoads)])
    }
    // Clients would not notice a gap: they get their response before the object is created.
    if ((await sink.refusals()) > 0) throw new Error('part numbers with a gap were sent to the sink')
    return found
  } finally {
    await stop()
    await sink.stop()
  }
}

/** The figures on which tusd beats Sluice. */
function aheadOf(all: Section[]): string {
  const ahead = all.flatMap(({ name, findings }) =>
    findings.flatMap(({ what, values = [] }) => {
      const theirs = values.filter((value) => value.name === 'tusd')
      const ours = values.filter((value) => value.name === 'Sluice')
      const lost = ours.filter(({ value, unit }, at) => {
        const isCost = /^s\/|^MiB$|^ms$/.test(unit)
        return theirs[at] && (isCost ? theirs[at].value < value : theirs[at].value > value)
      })
      return lost.map(({ unit }) => `${name}, ${what} (${unit})`)
    }),
  )
  return ahead.join('; ') || 'nothing that is measured here'
}

/** The ledger floor's CPU time as multiples of the floor's, in the order of the loads. */
function priceOfLedger(all: Section[]): string {
  const prices = all
    .flatMap(({ findings }) => findings)
    .flatMap(({ what, values = [] }) => {
      const of = (wanted: Name) => values.find(({ name, unit }) => name === wanted && unit === 's/GiB')?.value
      const [floor, ledger] = [of('floor'), of('ledger floor')]
      return floor && ledger ? [`${(ledger / floor).toFixed(2)} (${what})`] : []
    })
  return prices.join(', ')
}

/** Counts the S3 requests for eight files of 64 MiB. */
async function countRequests(contenders: Contender[], sink: Sink): Promise<Finding[]> {
  const found: Finding[] = []
  for (const load of LOADS.slice(0, 2)) {
    const counted = new Map<Name, number>()
    for (const { name, target } of contenders) {
      const before = sumOf(await sink.counts())
      await load.run(target, name)
      // tusd cleans up after its response.
      await pause(1000)
      counted.set(name, sumOf(await sink.counts()) - before)
    }
    found.push({
      what: `S3 requests for eight files of 64 MiB, ${load.what}`,
      measured: [...counted].map(([name, count]) => `${name} ${count}`).join(', '),
      wanted: '≤ 80',
      holds: counted.get('Sluice')! <= 80,
    })
  }
  return found
}

const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((all, count) => all + count, 0)

/** Measures the contenders' memory with nothing in flight. */
async function memory(what: string, contenders: Contender[], mostMib: number): Promise<Finding> {
  const values: Value[] = []
  for (const { name, memoryBytes } of contenders)
    values.push({ name, value: (await memoryBytes()) / MiB, unit: 'MiB' })
  return {
    what,
    measured: `${values.map(({ name, value }) => `${name} ${value.toFixed(0)}`).join(', ')} MiB`,
    wanted: `≤ ${mostMib} MiB`,
    holds: values.find(({ name }) => name === 'Sluice')!.value <= mostMib,
    values,
  }
}

await buildIfNeeded()
const { folder: packed } = await stageServer(join(COMPILED, 'server'))
const sluice = join(packed, 'server.js')
const postgres = await startPostgres()
const sections: Section[] = []
try {
  for (const way of WAYS) {
    const site = { tusd, sluice, postgresUrl: postgres.url }
    sections.push({ name: way, findings: await benchWay(way, site) })
  }
} finally {
  await postgres.stop()
}
if (!only)
  writeReport(sections, {
    file: new URL('../../docs/beside-tusd.md', import.meta.url),
    title: 'Comparison with tusd',
    about: [
      '`npm run bench -- tusd --tusd <path>` runs this comparison and writes this page. All contenders write to the',
      `same sink: tusd ${version.stdout.match(/^Version: (\S+)/m)?.[1] ?? ''}, the Go server from tus.io, built from source, with 8 MiB parts; bare, a Node server that does \`req.pipe()\` to the sink; floor, a Node`,
      'server that only buffers 8 MiB parts in reused memory and sends three at a time; ledger floor, the same with the least that resuming takes, which is a',
      'lease, a checksum of all bytes and a record of each part in PostgreSQL; and @tus, which is @tus/server with @tus/s3-store. Sluice is the packed server,',
      'as released, with `ROLES=upload`; in the last section it is what `npm start` runs, with all roles and its own PostgreSQL in',
      '`DATA_DIR`, and with a webhook to its own inbox for each file. Each contender terminates TLS itself.',
      '',
      `No upload can be resumed without a ledger, and the ledger floor uses ${priceOfLedger(sections)} times the floor's CPU time.`,
      '',
      `For CPU and throughput, contenders take turns; the first ${WARM_UPS} rounds of each load are discarded (two for @tus), and figures are medians of the`,
      `following ${rounds}, with CPU ranges in parentheses. CPU is that of the server process; for Sluice and the ledger floor, PostgreSQL's CPU during their turns is`,
      "added, and in the last section that of the webhooks. PostgreSQL's memory is included only there, where memory is the proportional set size. The figures of 1,000 slow clients, memory and S3 requests are from one run.",
      '',
      `tusd is ahead of Sluice on: ${aheadOf(sections)}.`,
    ],
  })
