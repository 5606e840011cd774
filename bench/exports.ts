import { readFileSync } from 'node:fs'
import type { Finding } from './cases.ts'
import { withMillion } from './pages.ts'

/** Exports entire lists to files, and measures the memory of the server that generates them. */
const ROWS = 1_000_000
/**
 * Memory is compared with that after the first half of an export, during which code is compiled and the heap grows to
 * its usual size.
 */
const WARM_UP_ROWS = ROWS / 2
const MAX_GROWTH_MB = 50
const EXPORTS = ['/dashboard/files/export', '/dashboard/webhooks/export'].flatMap((path) =>
  ['csv', 'json'].map((format) => `${path}?format=${format}`),
)

export async function benchExports(postgresUrl: string): Promise<Finding[]> {
  return withMillion(postgresUrl, async ({ baseUrl, pid }, _, cookie) => {
    const findings: Finding[] = []
    for (const path of EXPORTS) {
      const { rows, startMb, peakMb, seconds } = await take(baseUrl + path, cookie, pid)
      const growth = Math.round(peakMb - startMb)
      findings.push({
        what: `${path}, ${rows.toLocaleString('en-US')} rows in ${seconds} s: memory of the server after ${WARM_UP_ROWS.toLocaleString('en-US')} rows and at its peak`,
        measured: `${Math.round(startMb)} and ${Math.round(peakMb)} MB`,
        wanted: `≤ ${MAX_GROWTH_MB} MB more, and every row`,
        holds: growth <= MAX_GROWTH_MB && rows === ROWS,
      })
    }
    return findings
  })
}

async function take(url: string, cookie: string, pid: number) {
  const startedAt = performance.now()
  const answer = await fetch(url, { headers: { Cookie: cookie } })
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status}`)
  let lines = 0
  let startMb = 0
  let peakMb = 0
  for await (const chunk of answer.body!) {
    for (const byte of chunk) if (byte === 10) lines += 1
    if (lines < WARM_UP_ROWS) continue
    const mb = residentMb(pid)
    startMb ||= mb
    peakMb = Math.max(peakMb, mb)
  }
  // Not every line is a row: CSV also has a header line, and JSON has one line for each of its two brackets.
  const rows = url.endsWith('csv') ? lines - 1 : lines - 2
  return { rows, startMb, peakMb, seconds: Math.round((performance.now() - startedAt) / 1000) }
}

function residentMb(pid: number): number {
  const kib = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+)/m)![1]
  return (Number(kib) * 1024) / 1e6
}
