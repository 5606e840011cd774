import { sql } from 'drizzle-orm'
import type { Finding } from './cases.ts'
import { cpuPerGiB } from './in-turns.ts'
import { MiB, percentile, upload } from './load.ts'
import { startSluiceNode } from './sluice-site.ts'

const ROUNDS = 25
/** The benchmarks send endless text. */
const TEXT = `filename ${btoa('a.txt')},filetype ${btoa('text/plain')}`

/** The cost of a Pipe verifying the content of files that match their declared type. */
export async function benchContent(postgresUrl: string, sinkUrl: string): Promise<Finding[]> {
  const site = await startSluiceNode(postgresUrl, sinkUrl)
  const target = { ...site.target, headers: { ...site.target.headers, 'Upload-Metadata': TEXT } }
  const cost = async (verifies: boolean, fileBytes: number) => {
    await site.database.db.execute(sql`update pipes set verify_content = ${verifies}`)
    return cpuPerGiB(site.node, fileBytes, () => upload(target, fileBytes))
  }
  /** Many short turns: the effect is smaller than the machine's noise. */
  const costs = async (fileBytes: number) => {
    const found = { without: [] as number[], verified: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      found.without.push(await cost(false, fileBytes))
      found.verified.push(await cost(true, fileBytes))
    }
    return { without: percentile(found.without, 0.5), verified: percentile(found.verified, 0.5) }
  }
  const findings: Finding[] = []
  try {
    for (const [fileBytes, name] of [
      [256 * MiB, 'files of 256 MiB'],
      [64 * MiB, 'files of 64 MiB'],
    ] as const) {
      const { without, verified } = await costs(fileBytes)
      findings.push({
        what: `CPU of files whose content is verified to others, ${name}`,
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
