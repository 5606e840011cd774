import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright'
import type { DemoDocument } from '../../lib/dashboard/demo/ensure-demo.ts'
import { findChromium } from '../../test/support/chromium.ts'
import { DASHBOARD_PAGES, PUBLIC_PAGES } from '../../test/support/pages.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { buildIfNeeded } from '../build.ts'
import { readOptions } from '../read-options.ts'
import { writeHistory } from './believable-history.ts'

/**
 * `npm run generate -- screenshots`: takes pictures of every page in both color modes, as on a desktop, a tablet and a
 * phone, in `screenshots/`, which is not part of the repository, and of the documentation's pages in docs/screenshots.
 * It runs its own server, whose demo workspace has a history of half a year. `--only <words>` selects pages whose
 * address contains them.
 */
const ALL_FOLDER = 'screenshots'
const DOCS_FOLDER = 'docs/screenshots'
const DOCS_SIZE = { width: 1280, height: 800 }
const WIDTHS = [1440, 1024, 390]
const MODES = ['light', 'dark'] as const
const MAX_BYTES = 150_000
const MIB = 1024 * 1024

/** The maximum number of bytes per request; all but the last request are interrupted. */
const UPLOADS: { name: string; type: string; sizes: number[]; whole: number }[] = [
  { name: 'interview-take-2.wav', type: 'audio/wav', sizes: [18 * MIB], whole: 18 * MIB },
  { name: 'floor-plan.pdf', type: 'application/pdf', sizes: [3 * MIB], whole: 3 * MIB },
  { name: 'site-survey.las', type: 'application/octet-stream', sizes: [12 * MIB], whole: 31 * MIB },
  { name: 'drone-pass-07.mp4', type: 'video/mp4', sizes: [20 * MIB], whole: 26 * MIB },
  { name: 'harbour-at-dawn.mp4', type: 'video/mp4', sizes: [9 * MIB, 14 * MIB, 40 * MIB], whole: 40 * MIB },
]

async function main(): Promise<void> {
  const usage = 'npm run generate -- screenshots [--only <words>]'
  const { only } = readOptions(usage, { options: { only: { type: 'string' } } }).values
  await buildIfNeeded()
  using folder = temporaryFolder()
  // By the end of a month, the history has used up the default quota, and the uploads below would be refused.
  const quota = { FREE_TIER_BYTES: '20000000000' }
  const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'warn', ...quota })
  const browser = await chromium.launch(await findChromium())
  try {
    const demo: DemoDocument = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'))
    await writeHistory(folder.path, demo)
    await ask(demo, 'POST', `/data-stores/${demo.dataStoreId}/check`)
    let fileId = ''
    for (const upload of UPLOADS) fileId = await send(demo, upload)
    const state = join(folder.path, 'signed-in.json')
    await signIn(browser, demo, state)
    const ids = await idsOf(demo, fileId)
    const docs = Object.entries(IN_DOCS)
    const visits = [
      { pages: PUBLIC_PAGES, docs: docs.filter(([, address]) => PUBLIC_PAGES.includes(address)) },
      { pages: DASHBOARD_PAGES, docs: docs.filter(([, address]) => !PUBLIC_PAGES.includes(address)), state },
    ]
    for (const mode of MODES) {
      for (const { pages, docs, state } of visits) {
        const camera = await openCamera(browser, demo.baseUrl, state, mode)
        for (const width of WIDTHS) {
          for (const address of pages.filter((address) => !only || address.includes(only)))
            await camera.shoot(fill(address, ids), `${nameOf(address)}-${width}-${mode}`, width)
        }
        if (!only)
          for (const [name, address] of docs) await camera.shootForDocs(fill(address, ids), `${name}-${mode}`)
        await camera.close()
      }
    }
  } finally {
    await browser.close()
    await sluice.stop()
  }
}

/** The documentation's pictures, by name. */
const IN_DOCS = {
  landing: '/',
  overview: '/dashboard',
  pipe: '/dashboard/pipes/{pipeId}',
  embed: '/dashboard/pipes/{pipeId}/embed',
  files: '/dashboard/files',
  file: '/dashboard/files/{fileId}',
  webhooks: '/dashboard/webhooks',
}

type Ids = Record<string, string>

async function idsOf(demo: DemoDocument, fileId: string): Promise<Ids> {
  const newest = async (path: string) =>
    (await ask<{ data: { id: string }[] }>(demo, 'GET', path)).data[0]!.id
  const { pipeId, dataStoreId } = demo
  const [senderId, deliveryId] = [await newest('/senders'), await newest('/deliveries')]
  return { pipeId, dataStoreId, fileId, senderId, deliveryId }
}

const fill = (address: string, ids: Ids) => address.replace(/\{(\w+)\}/, (_, name) => ids[name]!)

/** Turns `/dashboard/pipes/{pipeId}/try` into `dashboard-pipes-pipe-try`. */
const nameOf = (address: string) =>
  address
    .replace(/\{(\w+)Id\}/g, '$1')
    .replace(/\W+/g, '-')
    .replace(/^-|-$/g, '') || 'landing'

async function ask<Answer>(
  { baseUrl, accountKey }: DemoDocument,
  method: string,
  path: string,
): Promise<Answer> {
  const headers = { Authorization: `Bearer ${accountKey}` }
  return (await fetch(`${baseUrl}/api/v1${path}`, { method, headers })).json() as Promise<Answer>
}

async function signIn(browser: Browser, { baseUrl, email, password }: DemoDocument, path: string) {
  const page = await browser.newPage({ baseURL: baseUrl })
  await page.goto('/login')
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/dashboard')
  await page.context().storageState({ path })
  await page.close()
}

async function openCamera(
  browser: Browser,
  baseURL: string,
  storageState: string | undefined,
  colorScheme: (typeof MODES)[number],
) {
  const context = await browser.newContext({
    baseURL,
    ...(storageState && { storageState }),
    colorScheme,
    reducedMotion: 'reduce',
  })
  for (const folder of [ALL_FOLDER, DOCS_FOLDER]) mkdirSync(folder, { recursive: true })
  const page = await context.newPage()
  // Opens a page first, since fonts may arrive too late on the first one.
  await page.goto('/')
  const open = async (address: string, size: { width: number; height: number }) => {
    await page.setViewportSize(size)
    await page.goto(address, { waitUntil: 'load' })
    await page.evaluate(() => document.fonts.ready)
  }
  return {
    async shoot(address: string, name: string, width: number) {
      await open(address, { width, height: 844 })
      // A drawer is as tall as the visible area, not as the entire page.
      const drawer = address.includes('?delivery=')
      if (drawer) await page.getByRole('dialog').waitFor()
      await page.screenshot({ path: join(ALL_FOLDER, `${name}.png`), fullPage: !drawer })
    },
    async shootForDocs(address: string, name: string) {
      await open(address, DOCS_SIZE)
      const path = join(DOCS_FOLDER, `${name}.png`)
      await page.screenshot({ path })
      const { size } = statSync(path)
      console.log(`${path}: ${Math.round(size / 1000)} kB`)
      if (size > MAX_BYTES) throw new Error(`${path} is too large for the repository.`)
    },
    close: () => context.close(),
  }
}

/** Sends a file like a client that is interrupted and resumes. Returns the file's id. */
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

/** An interrupted request declares more bytes than it sends, then breaks off. */
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
