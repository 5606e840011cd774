import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { assertCanBuild } from './assert-can-build.ts'
import { bringNext } from './bring-next.ts'
import { buildSshCryptoIfNeeded } from './build-ssh-crypto.ts'
import { buildKitIfNeeded } from './kit.ts'
import { readOptions, runScript } from './read-options.ts'
import { hashOfSources } from './source-hash.ts'

/** Builds the pages and the files served with them, unless this exact source is already built. */
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

export async function buildIfNeeded(): Promise<void> {
  buildKitIfNeeded()
  buildSshCryptoIfNeeded()
  const source = hashOfSources(SOURCES)
  if (existsSync(MARK) && readFileSync(MARK, 'utf8') === source) return
  assertCanBuild()
  process.stderr.write('Building the pages. This takes a minute or two, once per source change.\n')
  const startedAt = performance.now()
  const output = await runNext(drawnFrom(source))
  if (output !== undefined) {
    process.stderr.write(output)
    throw new StartError('The build failed; its output is above.')
  }
  redrawPreviewKeys(source)
  forgetFolder()
  bringNext()
  writeFileSync(MARK, source)
  process.stderr.write(`Built in ${Math.round((performance.now() - startedAt) / 1000)} s.\n`)
}

/** Reports each step of Next's build, and on a terminal also the seconds. Returns Next's output if it fails. */
async function runNext(env: Record<string, string>): Promise<string | undefined> {
  const next = spawn(process.execPath, ['node_modules/next/dist/bin/next', 'build'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' },
  })
  let output = ''
  for (const stream of [next.stdout, next.stderr]) {
    createInterface(stream).on('line', (line) => {
      output += `${line}\n`
      const step = stepOf(line)
      if (step) process.stderr.write(`${BESIDE_SECONDS}  ${step}\n`)
    })
  }
  let seconds = 0
  const ticking = setInterval(() => process.stderr.write(`${BESIDE_SECONDS}  ${++seconds} s`), 1000)
  if (!process.stderr.isTTY) clearInterval(ticking)
  const [status] = await once(next, 'close')
  clearInterval(ticking)
  process.stderr.write(BESIDE_SECONDS)
  return status === 0 ? undefined : output
}

/** On a terminal, replaces the line with the seconds. */
const BESIDE_SECONDS = process.stderr.isTTY ? '\r\x1b[K' : ''

/** The step that a line of Next's output announces. */
export function stepOf(line: string): string | undefined {
  return line.match(/(?:Creating|Compiled|Collecting|Generating|Finalizing) .*/)?.[0]
}

/**
 * Next generates these values at random, and derives its file names from them. Deriving them from the source makes two
 * builds of the same source identical, byte for byte. None is a secret of a running server: open-pages.ts sets its own
 * key, and no page has a draft to preview.
 */
const draw = (source: string, what: string) => createHash('sha256').update(`${what} ${source}`)

function drawnFrom(source: string): Record<string, string> {
  return {
    SLUICE_BUILD_ID: source.slice(0, 20),
    NEXT_SERVER_ACTIONS_ENCRYPTION_KEY: draw(source, 'actions').digest('base64'),
  }
}

const WITH_PREVIEW_KEYS = [
  'prerender-manifest',
  'server/preview-props',
  'server/middleware-manifest',
  'server/middleware/middleware-manifest',
]

/** Replaces the preview keys in the build's output, since Next has no setting for them. */
function redrawPreviewKeys(source: string): void {
  const keys = JSON.parse(readFileSync('.next/server/preview-props.json', 'utf8')) as Record<string, string>
  for (const file of WITH_PREVIEW_KEYS.map((name) => `.next/${name}.json`)) {
    const text = Object.entries(keys).reduce(
      (all, [name, key]) => all.replaceAll(key, draw(source, name).digest('hex').slice(0, key.length)),
      readFileSync(file, 'utf8'),
    )
    writeFileSync(file, text)
  }
}

/** Removes the path of the build folder, which Next records: a running server only uses its own folder. */
function forgetFolder(): void {
  for (const file of ['.next/required-server-files.json', '.next/required-server-files.js']) {
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(JSON.stringify(process.cwd()), '"."'))
  }
}

if (import.meta.main) {
  readOptions('npm run build', {})
  await runScript(buildIfNeeded)
}
