import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { assertCanBuild } from './assert-can-build.ts'
import { bringNext } from './bring-next.ts'
import { buildKitIfNeeded } from './kit.ts'
import { readOptions } from './read-options.ts'
import { runScript } from './run-script.ts'
import { hashOfSources } from './source-hash.ts'

/** Builds the pages, and what is served beside them, unless there is a build of this very source already. */
const SOURCES = [
  'app',
  'components',
  'packages/react/src',
  'lib',
  'drizzle/schema',
  'public',
  'middleware.ts',
  'next.config.ts',
  'postcss.config.mjs',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
]
const MARK = '.next/sluice-source'

export function buildIfNeeded(): void {
  buildKitIfNeeded()
  const source = hashOfSources(SOURCES)
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === source) return
  assertCanBuild()
  process.stdout.write('Building the pages (once for each change of the source)…\n')
  const next = spawnSync(process.execPath, ['node_modules/next/dist/bin/next', 'build'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
    env: { ...process.env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  })
  if (next.status !== 0) {
    process.stderr.write(next.stdout + next.stderr)
    throw new StartError('The build failed; what it said stands above.')
  }
  bringNext()
  writeFileSync(MARK, source)
}

if (import.meta.main) {
  readOptions('npm run build', {})
  await runScript(async () => buildIfNeeded())
}
