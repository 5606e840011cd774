import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { buildIfNeeded } from './build.ts'
import { misused, readOptions } from './read-options.ts'

/**
 * `npm test`: check, then five groups of tests, called rings: unit; then database and served, alongside system and
 * browser. A ring that fails does not stop the others, so that one run shows everything. The last lines name each
 * failed test with its message, show how long each step took, and count the tests. `--all` includes the tests with the
 * tag "long".
 */
type Ring = { name: string; command: (report: string) => string[]; read: (report: never) => Outcome }
type Outcome = { passed: number; failed: number; failures: Failure[] }
type Failure = { test: string; message: string }

type VitestReport = {
  numPassedTests: number
  numFailedTests: number
  testResults: {
    name: string
    message: string
    status: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}
type Suite = {
  file: string
  suites?: Suite[]
  specs: { title: string; ok: boolean; tests: { results: { error?: { message?: string } }[] }[] }[]
}
type PlaywrightReport = {
  stats: { expected: number; unexpected: number; flaky: number }
  errors: { message?: string }[]
  suites: Suite[]
}

/** How much of a failure is shown at the end; its full output is above. */
const MESSAGE_CHARACTERS = 1500

const vitest = (name: string, projects = [name]): Ring => ({
  name,
  command: (report) => [
    'vitest',
    'run',
    ...projects.map((project) => `--project=${project}`),
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...(all ? [] : ['--tags-filter=!long']),
  ],
  read: (report: VitestReport) => ({
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    failures: report.testResults.flatMap(({ name: file, status, message, assertionResults }) => {
      const failed = assertionResults.filter((test) => test.status === 'failed')
      if (failed.length === 0) return status === 'failed' ? [{ test: relative('.', file), message }] : []
      return failed.map(({ fullName, failureMessages }) => ({
        test: `${relative('.', file)} › ${fullName}`,
        message: failureMessages.join('\n'),
      }))
    }),
  }),
})

const playwrightFailures = (suite: Suite): Failure[] => [
  ...suite.specs
    .filter(({ ok }) => !ok)
    .map(({ title, tests }) => ({
      test: `${suite.file} › ${title}`,
      message: tests.flatMap(({ results }) => results.map(({ error }) => error?.message ?? '')).join('\n'),
    })),
  ...(suite.suites ?? []).flatMap(playwrightFailures),
]

const browser: Ring = {
  name: 'browser',
  command: () => ['playwright', 'test', '--reporter=list,json', ...(all ? [] : ['--grep-invert=@long'])],
  read: ({ stats, errors, suites }: PlaywrightReport) => ({
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky,
    failures: [
      ...errors.map(({ message = '' }) => ({ test: 'the run itself', message })),
      ...suites.flatMap(playwrightFailures),
    ],
  }),
}

/**
 * Stages run one after another, a stage's lanes in parallel, and a lane's rings in turn. All rings sometimes wait for
 * processes, buckets and leases; the other lane uses the cores in the meantime.
 */
const STAGES: Ring[][][] = [
  [[vitest('unit', ['unit', 'unit-replacing'])]],
  [
    [vitest('database', ['database', 'database-replacing']), vitest('served')],
    [vitest('system'), browser],
  ],
]
const RINGS = STAGES.flat(2)

const USAGE = `npm test [-- --all] [--only ${RINGS.map(({ name }) => name).join('|')}]`
const { all, only } = readOptions(USAGE, {
  options: { all: { type: 'boolean' }, only: { type: 'string', multiple: true } },
}).values
const unknown = only?.find((wanted) => !RINGS.some(({ name }) => name === wanted))
if (unknown) misused(`There are no tests "${unknown}"`, USAGE)

function run(
  command: string[],
  env: Record<string, string> = {},
  output: 'inherit' | number = 'inherit',
): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command[0]!, command.slice(1), {
      stdio: ['inherit', output, output],
      env: { ...process.env, ...env },
    })
    child.once('error', () => resolve(false))
    child.once('close', (code) => resolve(code === 0))
  })
}

/** The first lane prints as it runs; the output of the others follows when all have ended. */
async function runSideBySide(lanes: Ring[][], folder: string): Promise<Outcome[]> {
  const logOf = ({ name }: Ring, lane: number) => (lane === 0 ? undefined : join(folder, `${name}.log`))
  const runLane = async (rings: Ring[], lane: number) => {
    const outcomes: Outcome[] = []
    for (const ring of rings)
      outcomes.push(await timed(ring.name, () => runRing(ring, folder, logOf(ring, lane))))
    return outcomes
  }
  const outcomes = await Promise.all(lanes.map(runLane))
  for (const ring of lanes.slice(1).flat()) process.stdout.write(readFileSync(logOf(ring, 1)!))
  return outcomes.flat()
}

async function runRing(ring: Ring, folder: string, log: string | undefined): Promise<Outcome> {
  const report = join(folder, `${ring.name}.json`)
  const output = log === undefined ? 'inherit' : openSync(log, 'w')
  const ok = await run(ring.command(report), { PLAYWRIGHT_JSON_OUTPUT_FILE: report }, output)
  if (output !== 'inherit') closeSync(output)
  try {
    const outcome = ring.read(JSON.parse(readFileSync(report, 'utf8')) as never)
    return ok || outcome.failed > 0 ? outcome : { ...outcome, failed: 1 }
  } catch {
    return { passed: 0, failed: 1, failures: [{ test: 'the run itself', message: 'No report was written.' }] }
  }
}

const times: string[] = []

async function timed<Result>(name: string, work: () => Result | Promise<Result>): Promise<Result> {
  const startedMs = performance.now()
  const result = await work()
  times.push(`${name} ${Math.round((performance.now() - startedMs) / 1000)} s`)
  return result
}

async function main(): Promise<boolean> {
  const rings = RINGS.filter(({ name }) => only === undefined || only.includes(name))
  const folder = mkdtempSync(join(tmpdir(), 'sluice-test-'))
  const check = () => run([process.execPath, 'scripts/check.ts'])
  const checked = only !== undefined || (await timed('check', check))
  if (rings.some(({ name }) => ['system', 'served', 'browser'].includes(name)))
    await timed('build', buildIfNeeded)
  const outcomes: Outcome[] = []
  for (const stage of STAGES) {
    const asked = stage.map((lane) => lane.filter((ring) => rings.includes(ring)))
    const lanes = asked.filter((lane) => lane.length > 0)
    outcomes.push(...(await runSideBySide(lanes, folder)))
  }
  rmSync(folder, { recursive: true, force: true })
  for (const [at, { failures }] of outcomes.entries()) {
    for (const { test, message } of failures) {
      console.log(`\nFailed, ${rings[at]!.name}: ${test}\n${message.slice(0, MESSAGE_CHARACTERS)}\n`)
    }
  }
  for (const [at, { name }] of rings.entries()) {
    console.log(`${name}: ${outcomes[at]!.passed} passed, ${outcomes[at]!.failed} failed`)
  }
  if (!all) console.log('Without the long tests, which `npm test -- --all` includes.')
  const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0)
  const failed = outcomes.reduce((sum, outcome) => sum + outcome.failed, checked ? 0 : 1)
  if (!checked) console.log('check: failed; see the start of this output')
  console.log(`took: ${times.join(', ')}`)
  console.log(`${passed} passed, ${failed} failed`)
  return failed === 0
}

process.exit((await main()) ? 0 : 1)
