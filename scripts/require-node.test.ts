import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-require-node-'))
  mkdirSync(join(folder, 'scripts'))
  for (const name of ['require-node.cjs', 'resolve-drizzle.cjs'])
    cpSync(`scripts/${name}`, join(folder, 'scripts', name))
  writeFileSync(join(folder, 'scripts/start.ts'), "const said: string = 'started'\nconsole.log(said)\n")
})
afterEach(() => rmSync(folder, { recursive: true }))

/** Starts like `npm start`, with these packages installed. */
function start(packages: string[], flags: string[] = []) {
  for (const name of packages) mkdirSync(join(folder, 'node_modules', name), { recursive: true })
  const args = [...flags, '-r', './scripts/require-node.cjs', 'scripts/start.ts']
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  return { status, stdout, stderr }
}

/** Simulates a Node without type stripping. */
const OLD = ['--no-experimental-strip-types']

it('accepts a Node that can run TypeScript', () => {
  expect(start(['pino'])).toEqual({ status: 0, stdout: 'started\n', stderr: '' })
})

it.each([
  ['without packages', [], [], /^Sluice's packages are not installed. Run `npm ci` first\.\n$/],
  ['after npm ci --omit=optional', ['pino'], OLD, /Run `npm ci` without --omit=optional/],
  ['with a Node other than the installed one', ['pino', '.bin/node'], OLD, /such as `npm start`/],
])('says what to do %s, in one line', (_, packages, flags, sentence) => {
  const { status, stderr } = start(packages, flags)
  expect(status).toBe(1)
  expect(stderr).toMatch(sentence)
  expect(stderr.trimEnd()).not.toContain('\n')
})

it('is loaded by every script that runs TypeScript', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  for (const [name, command] of Object.entries(scripts).filter(([, command]) => /\.ts\b/.test(command)))
    expect(command, name).toMatch(/^node -r \.\/scripts\/require-node\.cjs /)
})

it('names the same versions as package.json, the README and the workflow', () => {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'))
  const oldest = readFileSync('scripts/require-node.cjs', 'utf8').match(/OLDEST = '([\d.]+)'/)![1]!
  const readme = readFileSync('README.md', 'utf8')
  expect(readme).toContain(`Node ${engines.node.replace('>=', '')} or newer and npm`)
  expect(readme.replace(/\s+/g, ' ')).toContain(`own Node must be ${oldest} or newer`)
  const [, tried] = readFileSync('.github/workflows/ci.yml', 'utf8').match(/version: \[(.*)\]/)!
  expect(tried).toBe(
    `'${engines.node.replace('>=', '')}', '${oldest}', '${readFileSync('.nvmrc', 'utf8').trim()}'`,
  )
})
