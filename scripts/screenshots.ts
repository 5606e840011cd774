import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import { findChromium } from '../e2e/parts/chromium.ts'
import { startSluice, temporaryFolder } from '../e2e/parts/sluice.ts'
import type { DemoDocument } from '../lib/demo/demo-document.ts'
import { buildIfNeeded } from './build.ts'
import { readOptions } from './read-options.ts'

/**
 * `npm run screenshots`: the main pages in both modes into docs/screenshots, from a server of its own whose demo workspace
 * has a few uploads behind it.
 */
const FOLDER = 'docs/screenshots'
const SIZE = { width: 1280, height: 800 }
const MAX_BYTES = 150_000
const MIB = 1024 * 1024

/** What each request brings, at most; all but one that brings the last byte are cut off. */
const UPLOADS: { name: string; type: string; sizes: number[]; whole: number }[] = [
  { name: 'interview-take-2.wav', type: 'audio/wav', sizes: [18 * MIB], whole: 18 * MIB },
  { name: 'floor-plan.pdf', type: 'application/pdf', sizes: [3 * MIB], whole: 3 * MIB },
  { name: 'site-survey.las', type: 'application/octet-stream', sizes: [12 * MIB], whole: 31 * MIB },
  { name: 'drone-pass-07.mp4', type: 'video/mp4', sizes: [20 * MIB], whole: 26 * MIB },
  { name: 'harbour-at-dawn.mp4', type: 'video/mp4', sizes: [9 * MIB, 14 * MIB, 40 * MIB], whole: 40 * MIB },
]

async function main(): Promise<void> {
  readOptions('npm run screenshots', {})
  buildIfNeeded()
  using folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'warn' })
  const browser = await chromium.launch(await findChromium())
  try {
    const demo: DemoDocument = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'))
    await fetch(`${demo.baseUrl}/api/v1/data-stores/${demo.dataStoreId}/check`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${demo.accountKey}` },
    })
    let fileId = ''
    for (const upload of UPLOADS) fileId = await send(demo, upload)
    const state = join(folder.path, 'signed-in.json')
    await signIn(browser, demo, state)
    const pages = {
      landing: '/',
      overview: '/dashboard',
      pipe: `/dashboard/pipes/${demo.pipeId}`,
      embed: `/dashboard/pipes/${demo.pipeId}/embed`,
      files: '/dashboard/files',
      file: `/dashboard/files/${fileId}`,
      webhooks: '/dashboard/webhooks',
    }
    mkdirSync(FOLDER, { recursive: true })
    for (const mode of ['light', 'dark'] as const) await shoot(browser, demo.baseUrl, state, mode, pages)
  } finally {
    await browser.close()
    await sluice.stop()
  }
}

async function signIn(browser: Browser, { baseUrl, email, password }: DemoDocument, path: string) {
  const page = await browser.newPage({ baseURL: baseUrl })
  await page.goto('/login')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/dashboard')
  await page.context().storageState({ path })
  await page.close()
}

async function shoot(
  browser: Browser,
  baseURL: string,
  storageState: string,
  colorScheme: 'light' | 'dark',
  pages: Record<string, string>,
): Promise<void> {
  const options = { baseURL, storageState, colorScheme, viewport: SIZE, reducedMotion: 'reduce' } as const
  const context = await browser.newContext(options)
  // The first page may do without fonts that come late.
  const first = await context.newPage()
  await first.goto('/')
  await first.evaluate(() => document.fonts.ready)
  await first.close()
  for (const [name, address] of Object.entries(pages)) {
    const page = await context.newPage()
    await page.goto(address, { waitUntil: 'load' })
    await page.evaluate(() => document.fonts.ready)
    const path = join(FOLDER, `${name}-${colorScheme}.png`)
    await page.screenshot({ path })
    const { size } = statSync(path)
    console.log(`${path}: ${Math.round(size / 1000)} kB`)
    if (size > MAX_BYTES) throw new Error(`${path} is too large for the repository.`)
    await page.close()
  }
  await context.close()
}

/** Sends a file as a client would that is cut off and goes on. Answers its id. */
async function send(demo: DemoDocument, { name, type, sizes, whole }: (typeof UPLOADS)[number]) {
  const issued = await fetch(`${demo.baseUrl}/api/v1/tokens`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${demo.senderToken}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ pipeId: demo.pipeId, subject: 'user-42' }),
  })
  const { token, uploadUrl } = (await issued.json()) as { token: string; uploadUrl: string }
  const headers = { Authorization: `Bearer ${token}`, 'Tus-Resumable': '1.0.0' }
  const of = (text: string) => Buffer.from(text).toString('base64')
  const created = await fetch(uploadUrl, {
    method: 'POST',
    headers: {
      ...headers,
      'Upload-Length': String(whole),
      'Upload-Metadata': `filename ${of(name)},filetype ${of(type)}`,
    },
  })
  const url = created.headers.get('location')!
  let offset = 0
  for (const size of sizes) {
    const cut = offset + size < whole
    await patch(url, headers, offset, Math.min(size, whole - offset), cut)
    const asked = await fetch(url, { method: 'HEAD', headers })
    offset = Number(asked.headers.get('upload-offset'))
  }
  return url.split('/').at(-1)!
}

/** A request that is cut says that more will come, and breaks off instead. */
async function patch(
  url: string,
  headers: Record<string, string>,
  offset: number,
  size: number,
  cut: boolean,
): Promise<void> {
  const abort = new AbortController()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (let sent = 0; sent < size; sent += MIB)
        controller.enqueue(new Uint8Array(Math.min(MIB, size - sent)))
      if (!cut) controller.close()
      else setTimeout(() => abort.abort(), 500)
    },
  })
  const request: RequestInit & { duplex: 'half' } = {
    method: 'PATCH',
    headers: {
      ...headers,
      'Content-Type': 'application/offset+octet-stream',
      'Upload-Offset': String(offset),
    },
    body,
    duplex: 'half',
    signal: abort.signal,
  }
  await fetch(url, request).catch((error: Error) => {
    if (error.name !== 'AbortError') throw error
  })
}

await main()
