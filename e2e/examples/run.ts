import { execSync } from 'node:child_process'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildIfNeeded } from '../../scripts/build.ts'
import { misused, readOptions } from '../../scripts/read-options.ts'
import {
  commandsOf,
  EXAMPLES,
  type Example,
  folderOf,
  makePipe,
  openLine,
  RESUMED_ONCE,
  startExample,
  uploadThroughCut,
} from '../../test/support/examples.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo } from '../../test/support/target.ts'
import { removeWithThisProcess } from '../../test/support/until-exit.ts'

/**
 * Runs each example as a new user would: a copy in an empty folder, started with the two commands from its README and
 * the machine's npm and Node. A browser then uploads a file through an interruption.
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
const env = {
  HOME,
  PATH: ownPath.join(':'),
  NODE_EXTRA_CA_CERTS,
  NODE_ENV: 'development' as const,
  NEXT_TELEMETRY_DISABLED: '1',
}

async function run(example: Example): Promise<boolean> {
  // npm derives the package name from the folder's name.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-example-'))
  removeWithThisProcess(folder)
  cpSync(folderOf(example), folder, { recursive: true })
  const pipeId = await makePipe(demo, example)
  const { install, start } = commandsOf(example, demo, pipeId)
  execSync(install, { cwd: folder, env, stdio: ['ignore', 'ignore', 'inherit'] })
  const app = await startExample(start, folder, env)
  try {
    const { files, isEqual } = await uploadThroughCut(shared, app.url, demo, pipeId)
    const [file] = files as Record<string, unknown>[]
    return isEqual && Object.entries(RESUMED_ONCE).every(([name, value]) => file?.[name] === value)
  } catch (error) {
    throw new Error(`${error}\nThe example's output:\n${app.said()}`)
  } finally {
    app.stop()
  }
}

let failed = 0
for (const example of wanted) {
  const startedMs = performance.now()
  const ok = await run(example).catch((error) => console.log(String(error)))
  if (!ok) failed += 1
  console.log(`${ok ? 'ok  ' : 'FAIL'}  ${example}, ${((performance.now() - startedMs) / 1000).toFixed(0)} s`)
}
await shared.close()
await server.stop()
process.exitCode = failed > 0 ? 1 : 0
