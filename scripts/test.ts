import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildIfNeeded } from './build.ts'

/**
 * `npm test`: check, then the four rings, quick ones first: unit, database, whole system, browser. A ring that
 * fails does not stop the others, so that one run tells everything. The last line counts the tests.
 */
type Ring = { name: string; command: (report: string) => string[]; count: (report: unknown) => Count }
type Count = { passed: number; failed: number }

const vitest = (name: string, projects = [name]): Ring => ({
  name,
  command: (report) => [
    'vitest',
    'run',
    ...projects.map((project) => `--project=${project}`),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ],
  count: (report) => {
    const { numPassedTests: passed, numFailedTests: failed } = report as Record<string, number>
    return { passed: passed!, failed: failed! }
  },
})

const RINGS: Ring[] = [
  vitest('unit'),
  vitest('database'),
  vitest('system', ['system', 'served']),
  {
    name: 'browser',
    command: () => ['playwright', 'test', '--reporter=list,json'],
    count: (report) => {
      const { expected, unexpected, flaky } = (report as { stats: Record<string, number> }).stats
      return { passed: expected!, failed: unexpected! + flaky! }
    },
  },
]

function run(command: string[], env: Record<string, string>): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command[0]!, command.slice(1), { stdio: 'inherit', env: { ...process.env, ...env } })
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}

async function runRing(ring: Ring, folder: string): Promise<Count> {
  const report = join(folder, `${ring.name}.json`)
  const ok = await run(ring.command(report), { PLAYWRIGHT_JSON_OUTPUT_FILE: report })
  try {
    const count = ring.count(JSON.parse(readFileSync(report, 'utf8')))
    return ok || count.failed > 0 ? count : { ...count, failed: 1 }
  } catch {
    return { passed: 0, failed: 1 }
  }
}

async function main(): Promise<boolean> {
  const only = process.argv[2] === '--only' ? process.argv.slice(3) : undefined
  const rings = RINGS.filter(({ name }) => only === undefined || only.includes(name))
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const checked = only !== undefined || (await run([process.execPath, 'scripts/check.ts'], {}))
  if (rings.some(({ name }) => name === 'system' || name === 'browser')) buildIfNeeded()
  const counts: Count[] = []
  for (const ring of rings) counts.push(await runRing(ring, folder))
  rmSync(folder, { recursive: true, force: true })
  const total = counts.reduce(
    (sum, { passed, failed }) => ({ passed: sum.passed + passed, failed: sum.failed + failed }),
    { passed: 0, failed: 0 },
  )
  for (const [at, { name }] of rings.entries()) {
    console.log(`${name}: ${counts[at]!.passed} passed, ${counts[at]!.failed} failed`)
  }
  if (!checked) console.log('check: failed; it stands at the top of this output')
  console.log(`${total.passed} passed, ${total.failed + (checked ? 0 : 1)} failed`)
  return checked && total.failed === 0
}

process.exit((await main()) ? 0 : 1)
