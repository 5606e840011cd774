import { sql } from 'drizzle-orm'
import { readOptions } from '../scripts/read-options.ts'
import { CERTIFICATE } from '../test/support/certificates.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { MiB, percentile, upload } from './load.ts'
import { startSink } from './processes.ts'
import { startSluiceNode } from './sluice-site.ts'

/**
 * Compares the CPU time of uploads to S3 with that of uploads to Azure Blob Storage, and with that of uploads to a Pipe
 * that computes the SHA-256 of files. Each has a server of its own, whose bucket is the same sink, over TLS. The servers
 * take turns. Prints the medians for a GiB.
 */
const { values } = readOptions('npm run bench -- costs [--rounds 7]', {
  options: { rounds: { type: 'string', default: '7' } },
})
/** Files of several parts, and files that arrive in one piece. */
const LOADS = [
  { fileBytes: 64 * MiB, files: 16 },
  { fileBytes: 4 * MiB, files: 64 },
]
const WARM_UPS = 2
const AZURE = {
  provider: 'azure',
  bucket: 'media',
  storageAccountKey: Buffer.alloc(64, 'azure').toString('base64'),
}

const postgres = await startPostgres()
const sink = await startSink(CERTIFICATE)
const start = (bucket?: object) =>
  startSluiceNode(postgres.url, sink.url, { NODE_EXTRA_CA_CERTS: CERTIFICATE.cert }, undefined, bucket)
const nodes = { S3: await start(), 'S3 with the SHA-256': await start(), Azure: await start(AZURE) }
await nodes['S3 with the SHA-256'].database.db.execute(sql`update pipes set compute_sha256 = true`)

for (const { fileBytes, files } of LOADS) {
  const turns = Object.entries(nodes).map(([name, one]) => ({ ...one, name, cpuSeconds: [] as number[] }))
  for (let round = 0; round < WARM_UPS + Number(values.rounds); round++)
    for (const { node, target, cpuSeconds } of turns) {
      const before = await node.usage()
      for (let file = 0; file < files; file++) await upload(target, fileBytes)
      const used = (await node.usage()).cpuSeconds - before.cpuSeconds
      if (round >= WARM_UPS) cpuSeconds.push((used * 1024 * MiB) / (files * fileBytes))
    }
  for (const { name, cpuSeconds } of turns) {
    const range = [Math.min(...cpuSeconds), Math.max(...cpuSeconds)].map((one) => one.toFixed(2)).join('–')
    const median = percentile(cpuSeconds, 0.5).toFixed(2)
    console.log(`Files of ${fileBytes / MiB} MiB, ${name}: ${median} s/GiB (${range})`)
  }
}

for (const { node, drop } of Object.values(nodes)) {
  await node.stop()
  await drop()
}
await sink.stop()
await postgres.stop()
