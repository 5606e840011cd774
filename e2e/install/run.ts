import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  globSync,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { settings } from '#lib/platform/settings/settings.ts'
import { misused, readOptions } from '../../scripts/read-options.ts'
import { readmeCommands } from '../../test/support/readme-commands.ts'
import { signedIn } from '../../test/support/session.ts'
import { endWithThisProcess, removeWithThisProcess } from '../../test/support/until-exit.ts'

/**
 * Installs Sluice the way a user who only runs it would: in an empty folder, with an empty home, from the package that
 * `npm run release` builds. The installation must stay small, and start without a build and without a network. It must
 * serve pages, and the README's five minutes must work as described. `--node` specifies the folder of a different Node
 * binary to use.
 */
const MAX_MB = 450
const MB = 1_000_000
const USAGE = 'node e2e/install/run.ts [--node <folder of a node program>]'

const { node = dirname(process.execPath) } = readOptions(USAGE, {
  options: { node: { type: 'string' } },
}).values
if (!existsSync(join(node, 'node'))) misused(`There is no program "node" in ${node}`, USAGE)
process.exitCode = (await main()) ? 0 : 1

async function main(): Promise<boolean> {
  const [packed] = globSync('.release/sluice-server-*.tgz')
  if (!packed) misused('There is no package: create it with `npm run release -- --dry-run`', USAGE)
  const folder = makeFolder('sluice-install-')
  const env = environment(makeFolder('sluice-home-'))
  const version = spawnSync('node', ['--version'], { env, encoding: 'utf8' }).stdout.trim()
  const file = join(folder, basename(packed))
  copyFileSync(packed, file)
  // The README's upload imports tus-js-client, which users install separately.
  run(folder, env, 'npm', ['install', '--no-audit', '--no-fund', file, 'tus-js-client'])
  const small = checkSize(join(folder, 'node_modules'), version)
  return (await checkStart(folder, env)) && small
}

function makeFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name))
  removeWithThisProcess(folder)
  return folder
}

/** Removes this project's programs from the PATH: npm adds those that it has installed. */
function environment(home: string): NodeJS.ProcessEnv {
  const others = process.env
    .PATH!.split(delimiter)
    .filter((path) => !path.startsWith(resolve('node_modules')))
  const PATH = [resolve(node), ...others.filter((path) => !path.includes('node_modules'))].join(delimiter)
  // Keeps this machine's settings for network access, such as its certificates.
  const kept = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) && !(name in settings))
  return { ...Object.fromEntries(kept), NODE_ENV: 'production', PATH, HOME: home, PORT: '0' }
}

function run(cwd: string, env: NodeJS.ProcessEnv, command: string, args: string[]): void {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}${stderr}`)
  if (stderr.includes('EBADENGINE')) throw new Error(`npm warns about an engine:\n${stderr}`)
}

function checkSize(modules: string, version: string): boolean {
  const sizes = readdirSync(modules).map((name) => ({ name, bytes: sizeOf(join(modules, name)) }))
  sizes.sort((one, other) => other.bytes - one.bytes)
  for (const { name, bytes } of sizes.slice(0, 8)) console.log(`${inMB(bytes)}  ${name}`)
  const all = sizeOf(modules)
  return say(all <= MAX_MB * MB, `${inMB(all)}  installed with Node ${version}; at most ${MAX_MB} MB`)
}

/** The size on disk, as reported by `du`. */
function sizeOf(path: string): number {
  const stat = lstatSync(path)
  const within = stat.isDirectory() ? readdirSync(path) : []
  return within.reduce((sum, name) => sum + sizeOf(join(path, name)), stat.blocks * 512)
}

function inMB(bytes: number): string {
  return `${(bytes / MB).toFixed(1).padStart(7)} MB`
}

async function checkStart(folder: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  const { npx, output, seconds } = await start(folder, env)
  const demo = JSON.parse(readFileSync(join(folder, '.data/demo.json'), 'utf8')) as DemoDocument
  const landing = await (await fetch(demo.baseUrl)).text()
  const style = landing.match(/href="(\/_next\/static\/[^"]+\.css[^"]*)"/)?.[1]
  const styled = style !== undefined && (await fetch(new URL(style, demo.baseUrl))).status === 200
  const overview = await (await signedIn(demo)).get('/dashboard')
  const { stdout } = await promisify(execFile)('bash', ['-ec', readmeCommands('Five minutes')], {
    cwd: folder,
    env,
  })
  const ended = once(npx, 'exit')
  npx.kill('SIGTERM')
  await ended
  return [
    say(!output().includes('Building'), `ready after ${seconds.toFixed(1)} s, without a build or a network`),
    say(landing.includes('<h1') && styled, 'serves the landing page and its styles'),
    say(overview.status === 200 && overview.body.includes('Overview'), 'serves the Overview'),
    say(/^equal$/m.test(stdout), "the README's five minutes work as described"),
    say(await isGone(demo.baseUrl), 'stops on SIGTERM'),
  ].every(Boolean)
}

/** npx exits before the program that it runs, so only the server's port shows when it has stopped. */
async function isGone(baseUrl: string): Promise<boolean> {
  const isThere = () =>
    fetch(`${baseUrl}/healthz`).then(
      () => true,
      () => false,
    )
  for (let asked = 0; asked < 100; asked++) {
    if (!(await isThere())) return true
    await delay(100)
  }
  return false
}

async function start(folder: string, env: NodeJS.ProcessEnv) {
  const startedMs = performance.now()
  const npx = spawn('npx', ['--offline', 'sluice-server'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  endWithThisProcess(npx, 'SIGTERM')
  let output = ''
  await new Promise<void>((ready, fail) => {
    npx.stdout.on('data', (text) => {
      output += text
      if (/^ready /m.test(output)) ready()
    })
    npx.once('exit', (code) => fail(new Error(`npx exited with ${code}:\n${output}`)))
  })
  return { npx, output: () => output, seconds: (performance.now() - startedMs) / 1000 }
}

function say(holds: boolean, what: string): boolean {
  console.log(`${holds ? 'ok  ' : 'FAIL'}  ${what}`)
  return holds
}
