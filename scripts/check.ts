import { spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { buildKitIfNeeded } from './kit.ts'
import { misused, readOptions } from './read-options.ts'

/**
 * Everything that can be checked without running the product: formatting and lint, types, import directions between
 * folders, dead code, the docs (links and commands), and the conformance table.
 * Everything runs, and failures are printed in full.
 */
const PRODUCT = [
  'server.ts',
  'middleware.ts',
  'server',
  'lib',
  'packages',
  'app',
  'components',
  'drizzle',
  'scripts',
]

/** Longest first: two run at a time. */
const STEPS: [name: string, command: string[]][] = [
  // Next and dependency-cruiser still need the TypeScript 6 API, which is why both versions are installed.
  [
    'types',
    [
      process.execPath,
      'node_modules/typescript-7/bin/tsc',
      '--noEmit',
      '--incremental',
      '--tsBuildInfoFile',
      'node_modules/.cache/types.tsbuildinfo',
    ],
  ],
  ['directions', ['depcruise', '--output-type', 'err', ...PRODUCT.filter((path) => existsSync(path))]],
  ['dead code', ['knip']],
  ['format and lint', ['biome', 'ci', '--error-on-warnings', '.']],
  ['migrations', [process.execPath, 'scripts/landed-migrations.ts']],
  ['digests', [process.execPath, 'scripts/lock-digests.ts']],
  ['api', [process.execPath, 'scripts/api-document.ts']],
  ['docs', [process.execPath, 'scripts/check-docs.ts']],
  ['conformance', [process.execPath, 'scripts/conformance.ts']],
]

/** The checks that also read the source of the packages. */
const READ_ALL = ['types', 'directions', 'dead code']

type Outcome = { name: string; ok: boolean; output: string }

function run([name, [command, ...args]]: (typeof STEPS)[number]): Promise<Outcome> {
  return new Promise((resolve) => {
    const child = spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    child.once('error', (error) => resolve({ name, ok: false, output: String(error) }))
    child.once('close', (code) => resolve({ name, ok: code === 0, output }))
  })
}

// Route types left by a build may refer to deleted pages.
rmSync('.next/types', { recursive: true, force: true })
rmSync('.next/dev/types', { recursive: true, force: true })

const USAGE = 'npm run check [-- --only "<step>"]'
const { only } = readOptions(USAGE, { options: { only: { type: 'string' } } }).values
const steps = STEPS.filter(([name]) => only === undefined || name === only)
if (steps.length === 0)
  misused(`There is no step "${only}", only ${STEPS.map(([name]) => name).join(', ')}`, USAGE)
// Part of the packages' source is generated.
if (steps.some(([name]) => READ_ALL.includes(name))) buildKitIfNeeded()
const outcomes: Outcome[] = []
const waiting = steps.entries()
const work = async () => {
  for (const [at, step] of waiting) outcomes[at] = await run(step)
}
await Promise.all([work(), work()])
for (const { name, ok, output } of outcomes) console.log(ok ? `ok    ${name}` : `FAIL  ${name}\n${output}`)
process.exit(outcomes.every(({ ok }) => ok) ? 0 : 1)
