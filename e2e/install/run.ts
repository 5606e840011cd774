import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, globSync, lstatSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { buildIfNeeded } from '../../scripts/build.ts'
import { signedIn } from '../../test/support/session.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { endWithThisProcess, removeWithThisProcess } from '../../test/support/until-exit.ts'

/**
 * What somebody has who only starts Sluice: a copy of the source with the pages built, and `npm ci --omit=dev`. It has to stay small,
 * and `npm start` has to serve pages and take a file from it without building anything.
 */
const MAX_MB = 500
/** What other commands leave in the folder, or nobody carries along. */
const LEFT_OUT = ['.git', '.data', '.next/dev', '.next/cache', 'node_modules', 'test-results'].map((name) =>
  resolve(name),
)
const MB = 1_000_000

process.exitCode = (await main()) ? 0 : 1

async function main(): Promise<boolean> {
  buildIfNeeded()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-install-'))
  removeWithThisProcess(folder)
  cpSync('.', folder, { recursive: true, filter: (path) => !LEFT_OUT.includes(resolve(path)) })
  run(folder, 'npm', ['ci', '--omit=dev', '--no-audit', '--no-fund'])
  const small = checkSize(folder)
  return (await checkStart(folder)) && small
}

function run(cwd: string, command: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
}

function checkSize(folder: string): boolean {
  const packages = readdirSync(join(folder, 'node_modules'))
  const parts = [...packages.map((name) => `node_modules/${name}`), '.next']
  const sizes = parts.map((part) => ({ part, bytes: sizeOf(join(folder, part)) }))
  sizes.sort((one, other) => other.bytes - one.bytes)
  for (const { part, bytes } of sizes.slice(0, 8)) console.log(`${inMB(bytes)}  ${part}`)
  const all = sizeOf(folder)
  return say(all <= MAX_MB * MB, `${inMB(all)}  all of it; at most ${MAX_MB} MB`)
}

/** On the disk, as `du` has it. */
function sizeOf(path: string): number {
  const stat = lstatSync(path)
  const within = stat.isDirectory() ? readdirSync(path) : []
  return within.reduce((sum, name) => sum + sizeOf(join(path, name)), stat.blocks * 512)
}

function inMB(bytes: number): string {
  return `${(bytes / MB).toFixed(1).padStart(7)} MB`
}

async function checkStart(folder: string): Promise<boolean> {
  using data = temporaryFolder()
  const { npm, output } = await start(folder, data.path)
  const demo = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8')) as DemoDocument
  const landing = await (await fetch(demo.baseUrl)).text()
  const style = landing.match(/href="(\/_next\/static\/[^"]+\.css[^"]*)"/)?.[1]
  const styled = style !== undefined && (await fetch(new URL(style, demo.baseUrl))).status === 200
  const overview = await (await signedIn(demo)).get('/dashboard')
  const uploaded = await upload(demo)
  const stored = globSync(join(demo.bucket.directory, '**/install.bin')).map((path) => readFileSync(path))
  npm.kill('SIGTERM')
  return [
    say(!output().includes('Building'), 'starts without building'),
    say(landing.includes('<h1') && styled, 'serves the landing page and its styles'),
    say(overview.status === 200 && overview.body.includes('Overview'), 'serves the Overview'),
    say(
      stored.some((bytes) => bytes.equals(uploaded)),
      'takes a file',
    ),
  ].every(Boolean)
}

async function start(folder: string, dataDir: string) {
  const { PATH = '', HOME = '' } = process.env
  const env = { PATH, HOME, NODE_ENV: 'production' as const, PORT: '0', DATA_DIR: dataDir }
  const npm = spawn('npm', ['start'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
  endWithThisProcess(npm, 'SIGTERM')
  let output = ''
  await new Promise<void>((ready, fail) => {
    npm.stdout.on('data', (text) => {
      output += text
      if (/^ready /m.test(output)) ready()
    })
    npm.once('exit', (code) => fail(new Error(`npm start ended with ${code}:\n${output}`)))
  })
  return { npm, output: () => output }
}

async function upload(demo: DemoDocument): Promise<Buffer> {
  const bytes = randomBytes(9 * MB)
  const issued = await fetch(`${demo.baseUrl}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.senderToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ pipeId: demo.pipeId }),
  })
  const { token, uploadUrl } = (await issued.json()) as { token: string; uploadUrl: string }
  const headers = { authorization: `Bearer ${token}` }
  const { status } = await fetch(`${uploadUrl}install.bin`, { method: 'PUT', headers, body: bytes })
  if (status !== 201) throw new Error(`The file was answered with ${status}.`)
  return bytes
}

function say(holds: boolean, what: string): boolean {
  console.log(`${holds ? 'ok  ' : 'FAIL'}  ${what}`)
  return holds
}
