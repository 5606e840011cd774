import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { startPostgres } from '../e2e/parts/postgres.ts'
import { CASES, type Contender, type Field, type Finding, LONG_CASES } from './cases.ts'
import { startMeasured, startSink } from './processes.ts'
import { startSluiceNode } from './sluice-site.ts'

/**
 * Sluice, a bare pipe and @tus/server with @tus/s3-store, side by side on one machine, in one run, before the same sink.
 * `npm run bench` writes docs/benchmarks.md; `npm run bench -- --only <words>` prints the cases whose names hold them.
 */
const only = process.argv[2] === '--only' ? process.argv[3] : undefined

const chosen = only ? [...CASES, ...LONG_CASES].filter(({ name }) => name.includes(only)) : CASES
const postgres = await startPostgres()
const sink = await startSink()
const sluice = await startSluiceNode(postgres.url, sink.url)
const bare = await startMeasured('./nodes/bare.ts', { SINK: sink.url })
const peer = await startMeasured('./nodes/peer.ts', { SINK: sink.url })
const contender = (name: Contender['name'], node: Contender['node'], path: string): Contender => ({
  ...{ name, node },
  target: { collection: node.url + path, headers: {} },
})
const field: Field = {
  sink,
  postgresUrl: postgres.url,
  sluice: { name: 'sluice', node: sluice.node, target: sluice.target },
  bare: contender('bare', bare, '/'),
  peer: contender('peer', peer, '/files'),
}
const findings: Finding[] = []
try {
  for (const { name, run } of chosen) {
    console.log(name)
    const found = await run(field)
    for (const { what, measured, wanted, holds } of found)
      console.log(`  ${holds ? 'holds ' : 'MISSED'}  ${what}: ${measured}; wanted ${wanted}`)
    findings.push(...found)
  }
} finally {
  for (const part of [sluice.node, bare, peer, sink]) await part.stop()
  await sluice.drop()
  await postgres.stop()
}
if (!only) writeFileSync(new URL('../docs/benchmarks.md', import.meta.url), report(findings))

function report(all: Finding[]): string {
  const rows = all.map(
    ({ what, measured, wanted, holds }) =>
      `| ${what} | ${measured} | ${wanted} | ${holds ? 'holds' : 'missed'} |`,
  )
  const machine = `${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.versions.node}`
  return [
    '# Benchmarks',
    '',
    '`npm run bench` runs them and writes this page. Each line is a ratio or a figure of one run, with everything on one',
    'machine: the clients, the server, PostgreSQL and a sink that speaks S3 and throws the bytes away. The peer is',
    '@tus/server with @tus/s3-store, in parts of 8 MiB. A miss is shown as a miss.',
    '',
    `The last run: ${machine}.`,
    '',
    '| What | Measured | Wanted | |',
    '|---|---|---|---|',
    ...rows,
    '',
  ].join('\n')
}
