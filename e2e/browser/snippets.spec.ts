import { once } from 'node:events'
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright/test'
import ts from 'typescript'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { plainUppySnippet, tusJsSnippet, UPPY_SNIPPETS } from '#lib/dashboard/embed/browser-snippets.ts'
import { currentUppy } from '#lib/dashboard/embed/kit.ts'
import {
  type EmbedTarget,
  fetchUploadSnippet,
  KIT_PAGE_SNIPPET,
  kitExpressSnippet,
  kitHtmlSnippet,
  kitRouteSnippet,
  nodeTokenSnippet,
} from '#lib/dashboard/embed/snippets.ts'
import { api, expect, listen, test } from '../../test/support/browser.ts'
import { loadTokenHandler, startCustomerSite } from '../../test/support/customer-site.ts'
import { removeWithThisProcess } from '../../test/support/until-exit.ts'

/** Runs each snippet of the Embed page unchanged, with a real upload from a customer's page on another origin. */
const BYTES = 300_000

type Backend = (target: EmbedTarget) => Promise<() => Promise<Response>>
const bareBackend: Backend = (target) => loadTokenHandler(nodeTokenSnippet(target))

async function makePipe(demo: DemoDocument) {
  const fields = { name: 'Snippets', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string; uploadUrl: string }>(demo, 'POST', '/pipes', fields)
  process.env.SLUICE_SENDER_TOKEN = demo.senderToken
  const files = () =>
    api<{ data: { filename: string; size: number; status: string }[] }>(
      demo,
      'GET',
      `/files?pipeId=${pipe.id}`,
    ).then(({ data }) => data)
  return { target: { baseUrl: demo.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: pipe.id }, files }
}

async function openCustomer(
  demo: DemoDocument,
  page: Page,
  content: (target: EmbedTarget) => unknown,
  loadBackend = bareBackend,
) {
  const { target, files } = await makePipe(demo)
  const site = await startCustomerSite(String(await content(target)), await loadBackend(target))
  await page.goto(site.url)
  return { files, [Symbol.asyncDispose]: site.close }
}

const holiday = { name: 'Ferien am Meer.txt', mimeType: 'text/plain', buffer: Buffer.alloc(BYTES, 'meer ') }
const arrived = [{ filename: holiday.name, size: BYTES, status: 'transferred' }]

async function sendByDashboard(page: Page) {
  await page.locator('.uppy-Dashboard-input').first().setInputFiles(holiday)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await expect(page.getByText('Complete', { exact: true })).toBeVisible()
}

test('the HTML snippet uploads, and loads Uppy from this server and nothing from any other', async ({
  demo,
  page,
}) => {
  const complaints = listen(page)
  const hosts = new Set<string>()
  page.on('request', (request) => hosts.add(new URL(request.url()).host))
  await using customer = await openCustomer(demo, page, plainUppySnippet)
  await sendByDashboard(page)
  expect(await customer.files()).toMatchObject(arrived)
  const ours = [page.url(), demo.baseUrl, demo.uploadUrl].map((url) => new URL(url).host)
  expect([...hosts].filter((host) => !ours.includes(host))).toEqual([])
  expect(complaints.filter((complaint) => !complaint.includes('favicon'))).toEqual([])
})

test('the Uppy bundle can be loaded by any page and cached forever', async ({ demo }) => {
  const { url } = currentUppy(demo.baseUrl, 'uppy.min.mjs')
  const { status, headers } = await fetch(url, { headers: { Origin: 'https://www.example.com' } })
  expect([status, headers.get('content-encoding'), headers.get('content-type')]).toEqual([
    200,
    'gzip',
    'text/javascript; charset=utf-8',
  ])
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(headers.get('access-control-allow-origin')).toBe('*')
  expect((await fetch(url.replace('/6.', '/5.'))).status).toBe(404)
})

for (const file of ['uppy.min.mjs', 'uppy.min.css'] as const) {
  test(`the HTML snippet refuses a ${file} that was changed in transit`, async ({ demo, page }) => {
    const complaints = listen(page)
    await page.route(`**/${file}`, async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, body: `${await response.text()}\n` })
    })
    await using _customer = await openCustomer(demo, page, plainUppySnippet)
    await expect.poll(() => complaints.join()).toMatch(/integrity/)
    if (file.endsWith('mjs')) await expect(page.locator('.uppy-Root')).toHaveCount(0)
    else expect(await page.evaluate(() => document.querySelector('link')!.sheet)).toBeNull()
  })
}

test('the tus-js-client snippet uploads', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, page, async (target) => {
    const contents = `${tusJsSnippet(target)}\nglobalThis.upload = upload`
    return `<script type="module">${await bundle(contents, 'js')}</script>`
  })
  await page.evaluate(
    async ({ name, length }) => {
      const { upload } = globalThis as unknown as { upload(file: File): Promise<void> }
      await upload(new File(['x'.repeat(length)], name, { type: 'text/plain' }))
    },
    { name: holiday.name, length: BYTES },
  )
  expect(await customer.files()).toMatchObject(arrived)
})

test('the fetch snippet uploads with one plain request', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, page, (target) => {
    const text = fetchUploadSnippet(target).replace('export async', 'globalThis.upload = async')
    return `<script type="module">${text}</script>`
  })
  const file = await page.evaluate(
    async ({ name, length }) => {
      const { upload } = globalThis as unknown as { upload(file: File): Promise<object> }
      return await upload(new File(['x'.repeat(length)], name, { type: 'text/plain' }))
    },
    { name: holiday.name, length: BYTES },
  )
  expect(file).toMatchObject({ filename: holiday.name, size: BYTES, status: 'transferred' })
  expect(await customer.files()).toMatchObject(arrived)
})

test('the Uppy snippet for React compiles under strict TypeScript, with both versions of Uppy, and uploads', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, page, async () => {
    const text = UPPY_SNIPPETS.react
    expect(complaintsOfTypeScript(text)).toEqual([])
    const ofCore =
      "import Uppy from '@uppy/core-5'\nimport Sluice from '@sluice/uppy'\nnew Uppy().use(Sluice, { parallel: 2 })"
    expect(
      complaintsOfTypeScript(ofCore, { '@uppy/core': [resolve('node_modules/@uppy/core-5/lib/index.d.ts')] }),
    ).toEqual([])
    const mount = `${text}
import { createRoot } from 'react-dom/client'
createRoot(document.getElementById('root')!).render(<Uploader />)`
    return `<div id="root"></div><script type="module">${await bundle(mount, 'tsx')}</script>`
  })
  await sendByDashboard(page)
  expect(await customer.files()).toMatchObject(arrived)
})

/** Loads a snippet for Node as a module, from a folder where its imported packages are found. */
async function load<Module>(text: string): Promise<Module> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-snippet-'))
  removeWithThisProcess(folder)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'text.mjs'), text)
  return import(join(folder, 'text.mjs'))
}

test("the kit's Next.js and React snippets compile under strict TypeScript, and upload", async ({
  demo,
  page,
}) => {
  const routeOf: Backend = async (target) => {
    expect(complaintsOfTypeScript(kitRouteSnippet(target))).toEqual([])
    const { POST } = await load<{ POST(request: Request): Promise<Response> }>(kitRouteSnippet(target))
    return () => POST(new Request('http://localhost/api/upload-token', { method: 'POST' }))
  }
  const pageOf = async () => {
    expect(complaintsOfTypeScript(KIT_PAGE_SNIPPET)).toEqual([])
    const mount = `${KIT_PAGE_SNIPPET}
import { createRoot } from 'react-dom/client'
createRoot(document.getElementById('root')!).render(<Page />)`
    return `<div id="root"></div><script type="module">${await bundle(mount, 'tsx')}</script>`
  }
  await using customer = await openCustomer(demo, page, pageOf, routeOf)
  await page.getByLabel('Choose files').setInputFiles(holiday)
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
  expect(await customer.files()).toMatchObject(arrived)
})

test("the kit's snippets for Express and for a plain page upload", async ({ demo, page }) => {
  const { target, files } = await makePipe(demo)
  const { server } = await load<{ server: Server }>(`import express from 'express'
const app = express()
${kitExpressSnippet(target)}
app.get('/', (req, res) => res.send(${JSON.stringify(`<!doctype html>${kitHtmlSnippet(target)}`)}))
export const server = app.listen(0, '127.0.0.1')`)
  await once(server, 'listening')
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  await page.getByLabel('Choose files').setInputFiles(holiday)
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
  expect(await files()).toMatchObject(arrived)
  server.closeAllConnections()
  server.close()
})

test('the web component has types for its properties and events', () => {
  const text = `import '@sluice/uploader'

const uploader = document.querySelector('sluice-uploader')!
uploader.batch = (files) => files.map(({ name }) => name).join()
uploader.addEventListener('done', ({ detail }) => console.log(detail.fileId, detail.result))
uploader.addEventListener('change', ({ detail: [first] }) => console.log(first?.state))
uploader.addEventListener('keydown', ({ key }) => console.log(key))
uploader.removeEventListener('other', (event) => console.log(event.type))`
  expect(complaintsOfTypeScript(text)).toEqual([])
  expect(complaintsOfTypeScript(text.replace('fileId', 'nothing'))).toHaveLength(1)
})

/** Compiles a program that consists only of the snippet, and returns the errors. */
function complaintsOfTypeScript(text: string, paths: ts.MapLike<string[]> = {}): string[] {
  const options: ts.CompilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noUnusedLocals: true,
    noUnusedParameters: true,
    noEmit: true,
    skipLibCheck: true,
    jsx: ts.JsxEmit.ReactJSX,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    types: [],
    paths,
  }
  // Declares style sheet imports, as bundlers do in declarations such as vite/client.
  const sources = new Map([
    [resolve('uploader.tsx'), text],
    [resolve('bundler.d.ts'), "declare module '*.css'"],
  ])
  const host = ts.createCompilerHost(options)
  const { getSourceFile, fileExists } = host
  host.fileExists = (name) => sources.has(name) || fileExists(name)
  host.getSourceFile = (name, target, ...rest) => {
    const own = sources.get(name)
    return own === undefined ? getSourceFile(name, target, ...rest) : ts.createSourceFile(name, own, target)
  }
  const program = ts.createProgram([...sources.keys()], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

/** Bundles a snippet like a customer's own build, with the packages that it imports. */
async function bundle(contents: string, loader: 'js' | 'tsx'): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, loader, resolveDir: process.cwd() },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    loader: { '.css': 'empty' },
    define: { 'process.env.NODE_ENV': '"production"' },
    write: false,
  })
  return outputFiles[0]!.text
}
