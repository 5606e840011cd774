import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { readOptions } from './read-options.ts'
import { runScript } from './run-script.ts'
import { hashOfSources } from './source-hash.ts'

/** The packages that users install, each with what it is built from; a package of before may stand below the next one. */
const PACKAGES = [
  {
    folder: 'packages/node',
    sources: ['openapi.json', 'openapi-ts.config.ts'],
    commands: [
      ['node_modules/@hey-api/openapi-ts/bin/run.js'],
      ['node_modules/typescript/bin/tsc', '-p', '.'],
    ],
  },
  {
    folder: 'packages/cli',
    sources: ['build.mjs', '../node/openapi.json', '../node/src'],
    commands: [['packages/cli/build.mjs']],
  },
]
const COMMON = ['package-lock.json', 'tsconfig.json']

/** Builds each package unless there is a build of its very source already. */
export function buildKitIfNeeded(): void {
  for (const { folder, sources, commands } of PACKAGES) {
    const own = ['package.json', 'tsconfig.json', 'src', ...sources].map((path) => join(folder, path))
    const source = hashOfSources([...COMMON, ...own], (path) => !path.includes('/generated'))
    const mark = join(folder, 'dist/.source')
    if (existsSync(mark) && readFileSync(mark, 'utf8') === source) continue
    rmSync(join(folder, 'dist'), { recursive: true, force: true })
    for (const command of commands) run(folder, command)
    writeFileSync(mark, source)
  }
}

function run(folder: string, [script, ...args]: string[]): void {
  const { status, stdout, stderr } = spawnSync(process.execPath, [resolve(script!), ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  if (status === 0) return
  process.stderr.write(stdout + stderr)
  throw new StartError(`${folder} could not be built; what was said stands above.`)
}

if (import.meta.main) {
  readOptions('npm run kit', {})
  await runScript(async () => buildKitIfNeeded())
}
