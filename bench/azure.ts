import { readOptions } from '../scripts/read-options.ts'
import { CERTIFICATE } from '../test/support/certificates.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { MiB, upload } from './load.ts'
import { startSink } from './processes.ts'
import { startSluiceNode } from './sluice-site.ts'

/**
 * Compares the CPU time of uploads to Azure Blob Storage with that of uploads to S3: one server each, whose bucket is
 * the same sink, over TLS. The servers take turns. Prints the median for a GiB, and the ratio.
 */
const { values } = readOptions('npm run bench -- azure [--rounds 7]', {
  options: { rounds: { type: 'string', default: '7' } },
})
const FILE_BYTES = 64 * MiB
const FILES = 16
const WARM_UPS = 2

const AZURE = {
  provider: 'azure',
  bucket: 'media',
  storageAccountKey: Buffer.alloc(64, 'azure').toString('base64'),
}

const postgres = await startPostgres()
const sink = await startSink(CERTIFICATE)
const trust = { NODE_EXTRA_CA_CERTS: CERTIFICATE.cert }
const start = (bucket?: object) => startSluiceNode(postgres.url, sink.url, trust, undefined, bucket)
const nodes = { S3: await start(), Azure: await start(AZURE) }
const names = ['S3', 'Azure'] as const
const cpuSeconds = { S3: [] as number[], Azure: [] as number[] }

for (let round = 0; round < WARM_UPS + Number(values.rounds); round++)
  for (const name of names) {
    const { node, target } = nodes[name]
    const before = await node.usage()
    for (let file = 0; file < FILES; file++) await upload(target, FILE_BYTES)
    const used = (await node.usage()).cpuSeconds - before.cpuSeconds
    if (round >= WARM_UPS) cpuSeconds[name].push((used * 1024 * MiB) / (FILES * FILE_BYTES))
  }

const medianOf = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length / 2)]!
const medians = names.map((name) => medianOf(cpuSeconds[name]))
for (const [n, name] of names.entries()) {
  const all = cpuSeconds[name]
  console.log(`${name}: ${medians[n]!.toFixed(2)} s/GiB (${all[0]!.toFixed(2)}–${all.at(-1)!.toFixed(2)})`)
}
console.log(`Azure takes ${(medians[1]! / medians[0]!).toFixed(2)} times the CPU of S3`)

for (const name of names) {
  await nodes[name].node.stop()
  await nodes[name].drop()
}
await sink.stop()
await postgres.stop()
