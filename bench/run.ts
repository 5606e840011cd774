import { readOptions } from '../scripts/read-options.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { writeMeasured } from './capacity/figures.ts'
import { CASES, type Contender, type Field } from './cases.ts'
import { startMeasured, startSink } from './processes.ts'
import { type Section, writeReport } from './report.ts'
import { startSluiceNode } from './sluice-site.ts'

/**
 * Compares Sluice, a bare pipe and @tus/server with @tus/s3-store on one machine, in one run, in front of the same
 * sink. `npm run bench` writes test-results/benchmarks.md, and the input for capacity.md into docs; `npm run bench --
 * --only <words>` prints the cases whose names contain them.
 */
const { only } = readOptions('npm run bench [-- --only <words>]', {
  options: { only: { type: 'string' } },
}).values

const chosen = CASES.filter(({ name }) => !only || name.includes(only))
const postgres = await startPostgres()
const sink = await startSink()
const sluice = await startSluiceNode(postgres.url, sink.url)
const bare = await startMeasured('./nodes/bare.ts', { SINK: sink.url })
const peer = await startMeasured('./nodes/peer.ts', { SINK: sink.url })
const contender = (name: Contender['name'], node: Contender['node'], path: string): Contender => ({
  name,
  node,
  target: { collection: node.url + path, headers: {} },
})
const field: Field = {
  sink,
  postgresUrl: postgres.url,
  sluice: { name: 'sluice', node: sluice.node, target: sluice.target },
  bare: contender('bare', bare, '/'),
  peer: contender('peer', peer, '/files'),
}
const sections: Section[] = []
try {
  for (const { name, run } of chosen) {
    console.log(name)
    const findings = await run(field)
    for (const { what, measured, wanted, holds } of findings)
      console.log(`  ${holds ? 'met   ' : 'MISSED'}  ${what}: ${measured}; wanted ${wanted}`)
    // Clients would not notice a gap: they get their response before the object is created.
    if ((await sink.refusals()) > 0) throw new Error('part numbers with a gap were sent to the sink')
    sections.push({ name, findings })
  }
} finally {
  for (const part of [sluice.node, bare, peer, sink]) await part.stop()
  await sluice.drop()
  await postgres.stop()
}
if (!only) {
  writeMeasured(sections.flatMap(({ findings }) => findings))
  writeReport(sections, {
    folder: new URL('../test-results/', import.meta.url),
    name: 'benchmarks',
    title: 'Benchmarks',
    about: [
      '`npm run bench` runs them and writes this page; `npm run bench -- --only HEAD` prints those whose names contain the word.',
      'Everything runs on one machine: the clients, the server, PostgreSQL and an S3 sink that discards the bytes.',
      'The bare pipe is a Node server that does `req.pipe()` to the sink. The peer is @tus/server with @tus/s3-store,',
      'in parts of 8 MiB. Contenders take turns, and a ratio is that of the medians of five rounds. Wall-clock times',
      'depend on the machine and on what else is running; CPU times and ratios much less.',
    ],
  })
}
