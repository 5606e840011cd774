import { execFileSync, execSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { buildIfNeeded } from '../../scripts/build.ts'
import { misused, readOptions } from '../../scripts/read-options.ts'
import {
  commandsOf,
  EXAMPLES,
  type Example,
  folderOf,
  makePipe,
  openLine,
  startExample,
  uploadThroughCut,
} from '../../test/support/examples.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo } from '../../test/support/target.ts'
import { removeWithThisProcess } from '../../test/support/until-exit.ts'

/**
 * Runs each example as a new user would: a copy in an empty folder, started with the two commands from its README and
 * the machine's npm and Node. A browser then uploads a file through an interruption and a reload.
 */
const USAGE = `npm run drill -- examples [--only ${EXAMPLES.join('|')}]`
const { only } = readOptions(USAGE, { options: { only: { type: 'string' } } }).values
const wanted = EXAMPLES.filter((example) => only === undefined || example === only)
if (wanted.length === 0) misused(`There is no example "${only}".`, USAGE)

await buildIfNeeded()
using data = temporaryFolder()
const server = await startSluice({ DATA_DIR: data.path, LOG_LEVEL: 'warn' }, process.cwd())
const demo = readDemo(data.path)
const shared = await openLine(demo)
const { HOME, PATH = '', NODE_EXTRA_CA_CERTS } = process.env
const ownPath = PATH.split(':').filter((folder) => !folder.includes('node_modules'))
const settings = {
  HOME,
  NODE_EXTRA_CA_CERTS,
  NODE_ENV: 'development' as const,
  NEXT_TELEMETRY_DISABLED: '1',
}

async function run(example: Example): Promise<void> {
  // Angular's tools need a newer Node than Sluice does.
  const node = example === 'angular' ? [dirname(process.execPath)] : []
  const env = { ...settings, PATH: [...node, ...ownPath].join(':') }
  // npm derives the package name from the folder's name.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
  removeWithThisProcess(folder)
  cpSync(folderOf(example), folder, { recursive: true })
  const pipeId = await makePipe(demo, example)
  const { install, start } = commandsOf(example, demo, pipeId)
  execSync(install, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
  if (existsSync(join(folder, 'tsconfig.json')))
    execFileSync(process.execPath, [resolve('node_modules/typescript/bin/tsc'), '-p', folder], {
      stdio: 'inherit',
    })
  const app = await startExample(start, folder, env)
  try {
    await uploadThroughCut(shared, app.url, demo, pipeId, example)
  } catch (error) {
    throw new Error(`${error}\nThe example's output:\n${app.said()}`)
  } finally {
    app.stop()
  }
}

let failed = 0
for (const example of wanted) {
  const startedMs = performance.now()
  const ok = await run(example).then(
    () => true,
    (error) => console.log(String(error)),
  )
  if (!ok) failed += 1
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${example}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
}
await shared.close()
await server.stop()
process.exitCode = failed > 0 ? 1 : 0
