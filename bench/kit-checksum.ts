import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { build } from 'esbuild'
import { type CDPSession, chromium } from 'playwright'
import { findChromium } from '../test/support/chromium.ts'
import { temporaryFolder } from '../test/support/sluice.ts'
import { inTurns } from './in-turns.ts'
import { MiB } from './load.ts'

/**
 * Measures the cost of the @sluice/react checksum for an upload at 1 Gbit/s, of a file that Chromium reads from disk.
 */
const BYTES_PER_SECOND = 1e9 / 8
const BYTES = 256 * MiB
/** The shortest sleep. */
const TICK_MS = 5

export async function measureKitChecksum() {
  using folder = temporaryFolder()
  const path = join(folder.path, 'film.bin')
  writeFileSync(path, Buffer.alloc(BYTES, 'sluice film'))
  const sink = await openLine()
  const browser = await chromium.launch(await findChromium())
  try {
    const tab = await browser.newPage()
    await tab.goto(sink.url)
    await tab.addScriptTag({ content: await bundled() })
    await tab.locator('input').setInputFiles(path)
    const processes = await browser.newBrowserCDPSession()
    await tab.evaluate(hashFile)
    const cpuSeconds = async () => {
      const before = await cpuOf(processes)
      await tab.evaluate(hashFile)
      return (await cpuOf(processes)) - before
    }
    const [cpu] = (await inTurns(cpuSeconds, ['checksum'])) as [number]
    const took = (withChecksum: boolean) => tab.evaluate(sendFile, withChecksum)
    const [alone, together] = (await inTurns(took, [false, true])) as [number, number]
    return { cpuShare: cpu / (BYTES / BYTES_PER_SECOND), timeShare: together / alone - 1, seconds: alone }
  } finally {
    await browser.close()
    sink.close()
  }
}

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { FileChecksum } from './packages/react/src/file-checksum.ts'
globalThis.FileChecksum = FileChecksum`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    minify: true,
    write: false,
  })
  return outputFiles[0]!.text
}

/** CPU seconds of all browser processes, including the disk process. */
async function cpuOf(processes: CDPSession): Promise<number> {
  const { processInfo } = await processes.send('SystemInfo.getProcessInfo')
  return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0)
}

type InPage = { FileChecksum: typeof import('../packages/react/src/file-checksum.ts').FileChecksum }

/** This function and the next one run in the page. */
async function hashFile(): Promise<string> {
  const file = document.querySelector('input')!.files![0]!
  return new (globalThis as unknown as InPage).FileChecksum(file).field(new AbortController().signal)
}

async function sendFile(withChecksum: boolean): Promise<number> {
  const file = document.querySelector('input')!.files![0]!
  const { signal } = new AbortController()
  const checksum = new (globalThis as unknown as InPage).FileChecksum(file)
  const startedMs = performance.now()
  await new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('PUT', '/')
    request.onload = resolve
    request.onerror = reject
    if (withChecksum) request.upload.onprogress = ({ loaded }) => checksum.follow(loaded, signal)
    request.send(file)
  })
  if (withChecksum) await checksum.field(signal)
  return (performance.now() - startedMs) / 1000
}

/** Accepts bytes at 1 Gbit/s. */
async function openLine() {
  const server = createServer(async (req, res) => {
    if (req.method === 'PUT') await drain(req)
    res.writeHead(200, { 'Content-Type': 'text/html' }).end('<input type="file">')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => void server.close().closeAllConnections()
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close }
}

async function drain(req: IncomingMessage): Promise<void> {
  const startedMs = performance.now()
  let taken = 0
  for await (const chunk of req) {
    taken += chunk.length
    const dueMs = startedMs + (taken / BYTES_PER_SECOND) * 1000
    if (dueMs - performance.now() > TICK_MS) await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
}
