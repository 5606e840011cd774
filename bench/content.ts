import { sql } from 'drizzle-orm'
import type { Finding } from './cases.ts'
import { cpuPerGiB } from './in-turns.ts'
import { MiB, percentile, upload } from './load.ts'
import { startSluiceNode } from './sluice-site.ts'

const ROUNDS = 40
/** The benchmarks send text, so this is the actual type of their files. */
const TEXT = `filename ${btoa('a.txt')},filetype ${btoa('text/plain')}`

type Way = { fileBytes: number; chunkBytes: number }
const WAYS = [
  { name: 'files of 256 MiB', fileBytes: 256 * MiB, chunkBytes: 256 * MiB },
  { name: 'files of 64 MiB', fileBytes: 64 * MiB, chunkBytes: 64 * MiB },
  { name: 'files of 64 MiB in chunks of 8 MiB', fileBytes: 64 * MiB, chunkBytes: 8 * MiB },
]

/** Measures the cost of content verification for files that match their declared type. */
export async function benchContent(postgresUrl: string, sinkUrl: string): Promise<Finding[]> {
  const site = await startSluiceNode(postgresUrl, sinkUrl)
  const target = { ...site.target, headers: { ...site.target.headers, 'Upload-Metadata': TEXT } }
  const cost = async (verifies: boolean, { fileBytes, chunkBytes }: Way) => {
    await site.database.db.execute(sql`update pipes set verify_content = ${verifies}`)
    return cpuPerGiB(site.node, fileBytes, () => upload(target, fileBytes, chunkBytes))
  }
  /** Uses many short turns, in both orders, because the effect is smaller than the machine's noise. */
  const costs = async (way: Way) => {
    const found = { without: [] as number[], verified: [] as number[] }
    for (let round = 0; round < ROUNDS; round++)
      for (const verifies of round % 2 === 0 ? [false, true] : [true, false])
        found[verifies ? 'verified' : 'without'].push(await cost(verifies, way))
    return { without: percentile(found.without, 0.5), verified: percentile(found.verified, 0.5) }
  }
  const findings: Finding[] = []
  try {
    for (const { name, ...way } of WAYS) {
      const { without, verified } = await costs(way)
      findings.push({
        what: `CPU with content verification, relative to without it, ${name}`,
        measured: `${(verified / without).toFixed(3)} times (${verified.toFixed(3)} and ${without.toFixed(3)} s/GiB)`,
        wanted: '≤ 1.01 times',
        holds: verified / without <= 1.01,
      })
    }
    return findings
  } finally {
    await site.node.stop()
    await site.drop()
  }
}
