import { sql } from 'drizzle-orm'
import { readOptions } from '../scripts/read-options.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { MiB, upload } from './load.ts'
import { startSink } from './processes.ts'
import { startSluiceNode } from './sluice-site.ts'

/**
 * Compares the CPU time of uploads to a Pipe that computes the SHA-256 of files with that of uploads to one that does
 * not. One server does both in turn, with the sink as its bucket. Prints the medians for a GiB.
 */
const { values } = readOptions('npm run bench -- sha256 [--rounds 7]', {
  options: { rounds: { type: 'string', default: '7' } },
})
/** Files of several parts, and files that arrive in one piece. */
const LOADS = [
  { fileBytes: 64 * MiB, files: 8 },
  { fileBytes: 4 * MiB, files: 64 },
]
const WARM_UPS = 1

const postgres = await startPostgres()
const sink = await startSink()
const { node, target, database, drop } = await startSluiceNode(postgres.url, sink.url)

for (const { fileBytes, files } of LOADS) {
  const turns = [false, true].map((computes) => ({ computes, cpuSeconds: [] as number[] }))
  for (let round = 0; round < WARM_UPS + Number(values.rounds); round++)
    for (const { computes, cpuSeconds } of turns) {
      await database.db.execute(sql`update pipes set compute_sha256 = ${computes}::boolean`)
      const before = await node.usage()
      for (let file = 0; file < files; file++) await upload(target, fileBytes)
      const used = (await node.usage()).cpuSeconds - before.cpuSeconds
      if (round >= WARM_UPS) cpuSeconds.push((used * 1024 * MiB) / (files * fileBytes))
    }
  for (const { computes, cpuSeconds } of turns) {
    const all = cpuSeconds.sort((a, b) => a - b)
    const [median, least, most] = [all[Math.floor(all.length / 2)]!, all[0]!, all.at(-1)!]
    console.log(
      `Files of ${fileBytes / MiB} MiB, ${computes ? 'with' : 'without'} the SHA-256: ${median.toFixed(2)} s/GiB (${least.toFixed(2)}–${most.toFixed(2)})`,
    )
  }
}

await node.stop()
await drop()
await sink.stop()
await postgres.stop()
