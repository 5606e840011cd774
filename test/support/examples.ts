import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from 'playwright'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { api } from './api.ts'
import { findChromium } from './chromium.ts'
import { openHeldLine } from './tcp-proxies.ts'

/** The examples whose packages this repository has. */
export const AT_HAND = ['next', 'vite-hono', 'express', 'plain'] as const
const IN_FRAMEWORKS = ['vue', 'svelte', 'solid', 'angular'] as const
/** The apps in `examples`, run with the two commands from their READMEs. */
export const EXAMPLES = [...AT_HAND, ...IN_FRAMEWORKS] as const
export type Example = (typeof EXAMPLES)[number]

const MIB = 1024 * 1024
const FILE_BYTES = 8 * MIB
const CUT_BYTES = 2 * MIB

export const folderOf = (example: Example) => join('examples', example)

/**
 * The README's commands, with a running Sluice's values in place of the placeholders, and a port chosen by the system.
 */
export function commandsOf(example: Example, { baseUrl, senderToken }: DemoDocument, pipeId: string) {
  const readme = readFileSync(join(folderOf(example), 'README.md'), 'utf8')
  const [, block = ''] = readme.match(/```sh\n(.*?)\n```/s) ?? []
  const commands = block
    .replaceAll('http://localhost:3000', baseUrl)
    .replaceAll('3001', '0')
    .replaceAll('sk_…', senderToken)
    .replaceAll('pipe_…', pipeId)
    .split('\n')
  if (commands.length !== 2) throw new Error(`${example} takes ${commands.length} commands.`)
  return { install: commands[0]!, start: commands[1]! }
}

/** Resolves once the example prints its address. It gets its own process group because a shell and npx start it. */
export async function startExample(command: string, cwd: string, env: NodeJS.ProcessEnv) {
  const child = spawn(command, { cwd, env, shell: true, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = () => {
    process.off('exit', stop)
    try {
      process.kill(-child.pid!, 'SIGKILL')
    } catch {
      // The example has already exited.
    }
  }
  process.once('exit', stop)
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk))
  for await (const line of createInterface(child.stdout)) {
    const [url] = line.match(/http:\/\/localhost:\d+/) ?? []
    if (url) return { url, stop, said: () => said }
  }
  throw new Error(`The example exited:\
${said}`)
}

/** A browser whose connection to Sluice can be cut. */
export async function openLine({ uploadUrl }: DemoDocument) {
  const { hostname, port, host } = new URL(uploadUrl)
  const line = await openHeldLine({ hostname, port })
  const options = await findChromium()
  const rule = `--host-resolver-rules=MAP ${host} 127.0.0.1:${line.port}`
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), rule] })
  const close = async () => {
    await browser.close()
    await line.close()
  }
  return { line, browser, close }
}

export type CutLine = { line: Awaited<ReturnType<typeof openHeldLine>>; browser: Browser }

/**
 * Uploads a file whose connection is cut, and whose page is then reloaded, and asserts that it was resumed, and that the
 * object equals it.
 */
export async function uploadThroughCut(
  { line, browser }: CutLine,
  url: string,
  demo: DemoDocument,
  pipeId: string,
  example: Example,
): Promise<void> {
  const name = `${pipeId}.bin`
  const film = { name, mimeType: 'video/mp4', buffer: randomBytes(FILE_BYTES) }
  const page = await browser.newPage()
  await page.goto(url, { timeout: 120_000 })
  const held = line.holdAfter(CUT_BYTES)
  await page.getByLabel('Choose files').setInputFiles(film)
  await held
  line.setAway(true)
  line.cut()
  const upload = page.getByRole('listitem').filter({ hasText: name })
  await upload.filter({ hasText: 'Waiting for the network' }).waitFor()
  await page.reload()
  line.flow()
  line.setAway(false)
  await upload.filter({ hasText: 'Uploaded' }).waitFor({ timeout: 60_000 })
  // In a framework, the component sets the property `batch` and listens for the event `done`.
  const inFramework = IN_FRAMEWORKS.some((one) => one === example)
  if (inFramework) await page.getByText(`${name} has arrived.`).waitFor()
  await page.close()
  const { data } = await api<{ data: Stored[] }>(demo, 'GET', `/files?pipeId=${pipeId}`)
  assert.partialDeepStrictEqual(data, [{ size: FILE_BYTES, status: 'transferred', resumeCount: 1 }])
  assert.equal(data[0]!.batch !== null, inFramework)
  const objects = readdirSync(demo.bucket.directory, { recursive: true, encoding: 'utf8' })
  const path = objects.find((object) => object.endsWith(name))!
  assert(film.buffer.equals(readFileSync(join(demo.bucket.directory, path))))
}

type Stored = { size: number; status: string; resumeCount: number; batch: object | null }

export const makePipe = async (demo: DemoDocument, name: string) => {
  const fields = { name, dataStoreId: demo.dataStoreId, source: { http: true } }
  return (await api<{ id: string }>(demo, 'POST', '/pipes', fields)).id
}
