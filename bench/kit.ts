import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { createSluice } from '../packages/node/src/client.ts'
import { buildIfNeeded } from '../scripts/build.ts'
import { buildKitIfNeeded } from '../scripts/kit.ts'
import { readOptions } from '../scripts/read-options.ts'
import { startSluice, temporaryFolder } from '../test/support/sluice.ts'
import { readDemo } from '../test/support/target.ts'
import { OCTETS, tusWith } from '../test/support/tus.ts'
import { percentile } from './load.ts'

/**
 * Benchmarks the command-line tool with its own Sluice: `npm run bench -- kit` writes the measurements to
 * docs/kit-figures.txt, and fails if something is wrong. A single run, such as `--only listen`, is only printed.
 */
const FIGURES = 'docs/kit-figures.txt'
const { only } = readOptions('npm run bench -- kit [--only listen|upload|folder]', {
  options: { only: { type: 'string' } },
}).values
const GIB = 2 ** 30
const CHUNK = Buffer.alloc(2 ** 24, 'sluice')

await buildIfNeeded()
buildKitIfNeeded()
using folder = temporaryFolder()
using home = temporaryFolder()
const server = await startSluice({ DATA_DIR: folder.path, FREE_TIER_BYTES: '0' }, process.cwd())
const demo = readDemo(folder.path)
const { baseUrl, accountKey, senderToken, pipeId } = demo
const sluice = createSluice({ baseUrl, accountKey, senderToken })
const env = {
  PATH: process.env.PATH,
  HOME: home.path,
  NODE_ENV: 'production' as const,
  SLUICE_CONFIG_DIR: home.path,
  SLUICE_URL: baseUrl,
  SLUICE_ACCOUNT_KEY: accountKey,
  SLUICE_SENDER_TOKEN: senderToken,
}

function start(...args: string[]): ChildProcess {
  const command = ['packages/cli/dist/sluice.js', ...args, '--pipe', pipeId]
  return spawn(process.execPath, command, { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

async function done(child: ChildProcess): Promise<void> {
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`The command exited with ${code}.`)
}

async function listenDelays(count: number): Promise<number[]> {
  const delays: number[] = []
  const program = createServer((req, res) => {
    let body = ''
    req.on('data', (chunk) => (body += chunk))
    req.on('end', () => {
      delays.push(Date.now() - Date.parse(JSON.parse(body).timestamp))
      res.writeHead(204).end()
    })
  }).listen(0, '127.0.0.1')
  await once(program, 'listening')
  const relay = start(
    'listen',
    '--forward-to',
    `http://127.0.0.1:${(program.address() as AddressInfo).port}/`,
  )
  for await (const text of relay.stderr!) if (String(text).includes('Listening')) break
  for (let n = 0; n < count; n++) {
    const { token, uploadUrl } = await sluice.issueToken({ pipeId })
    await tusWith(token, uploadUrl).post({ 'Upload-Length': 1, 'Content-Type': OCTETS }, 'x')
    await pause(Math.random() * 200)
  }
  while (delays.length < count) await pause(100)
  relay.kill()
  program.close()
  return delays
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Uploads a file with a command that is killed at a third and at two thirds. */
async function uploadKilledTwice(
  bytes: number,
): Promise<{ seconds: number; stood: number[]; resumed: number }> {
  const path = join(home.path, 'film.bin')
  const chunks = Array.from({ length: bytes / CHUNK.length }, () => CHUNK)
  await pipeline(chunks, createWriteStream(path))
  const state = async () =>
    (await sluice.listFiles({ pipeId, limit: 100 })).data.find(({ filename }) => filename === 'film.bin')
  const startedMs = performance.now()
  const stood: number[] = []
  for (const share of [1 / 3, 2 / 3]) {
    const running = start('upload', path)
    while (((await state())?.offset ?? 0) < bytes * share) await pause(50)
    running.kill('SIGKILL')
    await once(running, 'exit')
    stood.push((await state())!.offset)
  }
  await done(start('upload', path))
  const { id, status, resumeCount } = (await state())!
  const found = join(demo.bucket.directory, id, 'film.bin')
  if (status !== 'transferred' || (await hashOf(found)) !== (await hashOf(path)))
    throw new Error('The file did not arrive.')
  return { seconds: (performance.now() - startedMs) / 1000, stood, resumed: resumeCount }
}

async function uploadFolder(count: number): Promise<number> {
  const path = join(home.path, 'photos')
  mkdirSync(path)
  for (let n = 0; n < count; n++) writeFileSync(join(path, `photo ${n}.jpg`), Buffer.alloc(4096, n))
  const startedMs = performance.now()
  await done(start('upload', path))
  const arrived = readdirSync(demo.bucket.directory, { recursive: true, encoding: 'utf8' })
  const there = arrived.filter((name) => name.includes('photo ')).length
  if (there !== count) throw new Error(`${there} of ${count} files arrived.`)
  return (performance.now() - startedMs) / 1000
}

const RUNS = {
  async listen() {
    const delays = await listenDelays(100)
    const [median, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)]
    return `${median} ms median, ${p99} ms p99, from the event to the program, ${delays.length} events`
  },
  async upload() {
    const film = await uploadKilledTwice(2 * GIB)
    return `2 GiB, killed at ${film.stood.join(' and ')} bytes, resumed ${film.resumed} times, equal, ${film.seconds.toFixed(1)} s`
  },
  async folder() {
    const files = 5000
    return `a folder of ${files} files of 4 KiB, 16 at a time, ${(await uploadFolder(files)).toFixed(1)} s`
  },
}

const figures: string[] = []
for (const [name, run] of Object.entries(RUNS)) {
  if (only !== undefined && only !== name) continue
  figures.push(`${name}: ${await run()}`)
  console.log(figures.at(-1))
}
if (only === undefined) writeFileSync(FIGURES, `${figures.join('\n')}\n`)
await server.stop()
