import { resolve } from 'node:path'
import { build } from 'esbuild'
import type { BrowserContext, Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { nodeTokenSnippet } from '#lib/dashboard/embed/snippets.ts'
import { expectAccessible } from '../../test/support/axe.ts'
import { api, expect, test } from '../../test/support/browser.ts'
import { loadTokenHandler, startCustomerSite } from '../../test/support/customer-site.ts'

/** The components of @sluice/react in a customer's page of another origin. Try it has their cuts, tokens and reloads. */
const MIB = 1024 * 1024
const file = (name: string, size = 1000) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.alloc(size, 'kit '),
})

/** What the page renders, with what it declares before; React 18 in place of the one of this project, or its development mode. */
type Shown = { code?: string; react18?: boolean; development?: boolean }

async function openCustomer(demo: DemoDocument, element: string, shown: Shown = {}) {
  const fields = { name: 'Kit', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string; uploadUrl: string }>(demo, 'POST', '/pipes', fields)
  process.env.SLUICE_SENDER_TOKEN = demo.senderToken
  const target = { baseUrl: demo.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: pipe.id }
  const backend = { post: await loadTokenHandler(nodeTokenSnippet(target)) }
  const site = await startCustomerSite(await pageWith(element, shown), () => backend.post())
  return {
    url: site.url,
    uploadUrl: pipe.uploadUrl,
    pipeId: pipe.id,
    backend,
    statuses: async () => {
      const { data } = await api<{ data: { filename: string; status: string }[] }>(
        demo,
        'GET',
        `/files?pipeId=${pipe.id}`,
      )
      return Object.fromEntries(data.map(({ filename, status }) => [filename, status]))
    },
    [Symbol.asyncDispose]: site.close,
  }
}

const REACT_18 = { react: 'react-18', 'react-dom': 'react-dom-18' }

async function pageWith(element: string, { code = '', react18, development }: Shown): Promise<string> {
  const mode = development ? 'development' : 'production'
  const { outputFiles } = await build({
    stdin: {
      contents: `import { StrictMode, useState, version } from 'react'
import { createRoot } from 'react-dom/client'
import { UploadButton, UploadDropzone, UploadFailure, useUpload } from './packages/react/src/index.ts'
import './packages/react/src/styles.css'
globalThis.reactVersion = version
${code}
createRoot(document.getElementById('root')!).render(${element})`,
      loader: 'tsx',
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    outdir: resolve('out'),
    define: { 'process.env.NODE_ENV': JSON.stringify(mode) },
    alias: react18 ? REACT_18 : {},
    write: false,
  })
  const [script, style] = ['.js', '.css'].map(
    (end) => outputFiles.find(({ path }) => path.endsWith(end))!.text,
  )
  return `<meta charset="utf-8"><style>:root { color-scheme: light dark; font-family: sans-serif }
main { max-width: 40rem; margin: 2rem auto }
${style}</style><main><h1>Kit</h1><div id="root"></div></main><script type="module">${script}</script>`
}

/** Holds each body back until told; the others pass. */
async function holdBodies(page: Page, uploadUrl: string): Promise<() => Promise<void>> {
  const gate = Promise.withResolvers<void>()
  await page.route(`${uploadUrl}**`, async (route) => {
    if (route.request().method() === 'PATCH') await gate.promise
    await route.continue().catch(() => undefined)
  })
  return async () => {
    gate.resolve()
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  }
}

test('several files upload, are paused, resumed and canceled by keyboard, and every state is accessible and said', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone parallel={2} />')
  await page.goto(customer.url)
  await expectAccessible(page, 'the dropzone')
  const flow = await holdBodies(page, customer.uploadUrl)
  const input = page.getByLabel('Choose files')
  await input.setInputFiles(['one.txt', 'two.txt', 'three.txt'].map((name) => file(name, MIB)))
  const row = (name: string) => page.getByRole('listitem').filter({ hasText: name })
  await expect(row('three.txt')).toContainText('In the queue')
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(2)
  await expectAccessible(page, 'uploads under way')

  // The third has its turn while the first is paused.
  await page.getByRole('button', { name: 'Pause one.txt' }).focus()
  await page.keyboard.press('Enter')
  await expect(row('one.txt')).toContainText('Paused at')
  await expect(page.getByRole('button', { name: 'Resume one.txt' })).toBeFocused()
  await expect(row('three.txt')).toHaveAttribute('data-state', 'uploading')
  await expect(page.getByRole('status')).toContainText('three.txt')
  await page.getByRole('button', { name: 'Cancel two.txt' }).press('Enter')
  await expect(row('two.txt')).toHaveCount(0)
  await expectAccessible(page, 'a paused upload')

  await flow()
  await expect(row('three.txt')).toContainText('Uploaded')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Resume one.txt' }).press('Enter')
  await expect(row('one.txt')).toContainText('Uploaded')
  await expect(page.getByRole('status')).toHaveText('one.txt: Uploaded')
  // Its button went while it had the focus.
  await expect(row('one.txt')).toBeFocused()
  await expect.poll(customer.statuses).toMatchObject({ 'one.txt': 'transferred', 'three.txt': 'transferred' })
  await expect.poll(async () => (await customer.statuses())['two.txt']).toBe('canceled')
  await expectAccessible(page, 'uploads that are done')
})

test('a folder is dropped, with what is in its folders, and what cannot be read is listed as failed', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  await page.goto(customer.url)
  await page.evaluate(() => {
    const unreadable = {
      isFile: true,
      fullPath: '/trip/locked.txt',
      file: (_: unknown, refuse: (error: Error) => void) => refuse(new DOMException('', 'NotReadableError')),
    }
    const fileEntry = (path: string) => ({
      isFile: true,
      fullPath: path,
      file: (take: (file: File) => void) => take(new File(['x'], path.split('/').at(-1)!)),
    })
    const folderEntry = (path: string, inside: object[]) => ({
      isFile: false,
      fullPath: path,
      createReader: () => ({ readEntries: (take: (some: object[]) => void) => take(inside.splice(0, 1)) }),
    })
    const entries = folderEntry('/trip', [
      unreadable,
      fileEntry('/trip/a.txt'),
      folderEntry('/trip/day 2', [fileEntry('/trip/day 2/b.txt'), fileEntry('/trip/day 2/c.txt')]),
    ])
    const drop = new Event('drop', { bubbles: true, cancelable: true })
    const dataTransfer = { items: [{ webkitGetAsEntry: () => entries }], files: [] }
    document.querySelector('.sluice-dropzone')!.dispatchEvent(Object.assign(drop, { dataTransfer }))
  })
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(3)
  await expect(page.getByText('trip/day 2/c.txt')).toBeVisible()
  const locked = page.getByRole('listitem').filter({ hasText: 'trip/locked.txt' })
  await expect(locked).toContainText('Failed: The browser could not read it.')
  await expect(locked.getByRole('button')).toHaveAccessibleName('Remove locked.txt from the list')
  await expect
    .poll(customer.statuses)
    .toEqual({ 'a.txt': 'transferred', 'b.txt': 'transferred', 'c.txt': 'transferred' })
})

test('an upload that is stopped while it is being created is deleted, or goes on where it is', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  await page.goto(customer.url)
  const gate = Promise.withResolvers<void>()
  await page.route(`${customer.uploadUrl}**`, async (route) => {
    if (route.request().method() !== 'POST') return route.continue()
    const response = await route.fetch()
    await gate.promise
    await route.fulfill({ response }).catch(() => undefined)
  })
  await page.getByLabel('Choose files').setInputFiles([file('given-up.txt'), file('paused.txt')])
  await expect.poll(customer.statuses).toEqual({ 'given-up.txt': 'uploading', 'paused.txt': 'uploading' })
  await page.getByRole('button', { name: 'Cancel given-up.txt' }).click()
  await page.getByRole('button', { name: 'Pause paused.txt' }).click()
  gate.resolve()
  await expect.poll(customer.statuses).toEqual({ 'given-up.txt': 'canceled', 'paused.txt': 'uploading' })
  await page.getByRole('button', { name: 'Resume paused.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
  const { data } = await api<{ data: unknown[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
  expect(data).toHaveLength(2)
})

test('a drop of too many files says so', async ({ demo, page }) => {
  await using customer = await openCustomer(
    demo,
    '<UploadDropzone control={{ uploads: [], add() {}, addUnreadable() {} }} />',
  )
  await page.goto(customer.url)
  await page.evaluate(() => {
    const drop = new Event('drop', { bubbles: true, cancelable: true })
    const files = Array.from({ length: 10_001 }, (_, n) => new File([''], `${n}.txt`))
    const dataTransfer = { items: [], files }
    document.querySelector('.sluice-dropzone')!.dispatchEvent(Object.assign(drop, { dataTransfer }))
  })
  await expect(page.getByRole('alert')).toHaveText(/^Only the first 10,000 files/)
})

test('a refusal is told with its reason, and retried; after a reload it is still there', async ({
  demo,
  page,
}) => {
  await using customer = await openCustomer(demo, '<UploadButton>Send</UploadButton>')
  const issue = customer.backend.post
  customer.backend.post = async () => Response.json({}, { status: 403 })
  await page.goto(customer.url)
  await page.getByLabel('Send').setInputFiles(file('refused.txt'))
  await expect(page.getByRole('listitem')).toContainText('Failed: No upload token: 403')
  await expectAccessible(page, 'a refused upload')
  await page.reload()
  await expect(page.getByRole('listitem')).toContainText('Paused at 0%')
  await page.getByRole('button', { name: 'Resume refused.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Failed')
  customer.backend.post = issue
  await page.getByRole('button', { name: 'Retry refused.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
  await page.reload()
  await expect(page.getByLabel('Send')).toBeAttached()
  await expect(page.getByRole('listitem')).toHaveCount(0)
})

/** A second tab that wants the upload of the first, and waits for it. */
async function openWaitingTab(context: BrowserContext, url: string): Promise<Page> {
  const second = await context.newPage()
  await second.goto(url)
  await second.waitForFunction(async () => (await navigator.locks.query()).pending?.length === 1)
  await expect(second.getByRole('listitem')).toHaveCount(0)
  return second
}

test('an upload goes on in a second tab once the first is closed, and not before', async ({
  demo,
  page,
  context,
}) => {
  await using customer = await openCustomer(demo, '<UploadButton />')
  await page.goto(customer.url)
  await holdBodies(page, customer.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(file('shared.txt', MIB))
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
  const second = await openWaitingTab(context, customer.url)
  await page.close()
  await expect(second.getByRole('listitem')).toContainText('Uploaded')
  expect(await customer.statuses()).toEqual({ 'shared.txt': 'transferred' })
})

test('an upload that is canceled in one tab is not begun anew by another that waited for it', async ({
  demo,
  page,
  context,
}) => {
  await using customer = await openCustomer(demo, '<UploadButton />')
  await page.goto(customer.url)
  await holdBodies(page, customer.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(file('shared.txt', MIB))
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
  const second = await openWaitingTab(context, customer.url)
  await page.getByRole('button', { name: 'Cancel shared.txt' }).click()
  await expect.poll(customer.statuses).toEqual({ 'shared.txt': 'canceled' })
  await second.waitForFunction(async () => {
    const { held, pending } = await navigator.locks.query()
    return held?.length === 0 && pending?.length === 0
  })
  await expect(second.getByRole('listitem')).toHaveCount(0)
  await second.getByLabel('Choose files').setInputFiles(file('other.txt'))
  await expect(second.getByRole('listitem')).toHaveText(/other.txt.*Uploaded/)
})

for (const react18 of [true, false]) {
  test(`under React ${react18 ? 18 : 19}, mounted twice by its strict mode, a file is sent once, over a reload and by the next component`, async ({
    demo,
    page,
  }) => {
    const code = `globalThis.done = 0
function App() {
  const [at, move] = useState(0)
  return <>
    <button onClick={() => move(at + 1)}>Another page</button>
    <UploadButton key={at} onDone={() => done++} />
  </>
}`
    const element = '<StrictMode><App /></StrictMode>'
    await using customer = await openCustomer(demo, element, { code, react18, development: true })
    await page.goto(customer.url)
    expect(await page.evaluate(() => Reflect.get(globalThis, 'reactVersion'))).toMatch(
      react18 ? /^18/ : /^19/,
    )
    const flow = await holdBodies(page, customer.uploadUrl)
    await page.getByLabel('Choose files').setInputFiles(file('twice.txt', MIB))
    await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
    await page.reload()
    await expect(page.getByRole('listitem')).toContainText('twice.txt')
    await page.getByRole('button', { name: 'Another page' }).click()
    await expect(page.getByRole('listitem')).toHaveCount(1)
    await flow()
    await expect(page.getByRole('listitem')).toContainText('Uploaded')
    expect(await page.evaluate(() => Reflect.get(globalThis, 'done'))).toBe(1)
    const { data } = await api<{ data: object[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
    expect(data).toMatchObject([{ filename: 'twice.txt', status: 'transferred' }])
  })
}

test('empty files and files that are alike upload, by several lists of a page, begun without a network', async ({
  demo,
  page,
  context,
}) => {
  const element = `<><UploadButton>First</UploadButton><UploadButton>Second</UploadButton></>`
  await using customer = await openCustomer(demo, element)
  await page.goto(customer.url)
  await context.setOffline(true)
  await page.getByLabel('First').setInputFiles([file('same.txt'), file('same.txt'), file('empty.txt', 0)])
  await page.getByLabel('Second').setInputFiles(file('same.txt'))
  await expect(page.getByRole('listitem').filter({ hasText: 'Waiting for the network' })).toHaveCount(4)
  await context.setOffline(false)
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(4)
  for (const progress of await page.getByRole('progressbar').all())
    expect(await progress.getAttribute('value')).toBe('100')
  const { data } = await api<{ data: object[] }>(
    demo,
    'GET',
    `/files?pipeId=${customer.pipeId}&status=transferred`,
  )
  expect(data).toHaveLength(4)
})

test('a token is asked for as the page would now, not as it would have when it was first shown', async ({
  demo,
  page,
}) => {
  const code = `function App() {
  const [user, signIn] = useState('')
  const getToken = async () => {
    if (!user) throw new UploadFailure('Sign in first', 401)
    return (await fetch('/api/upload-token', { method: 'POST' })).json()
  }
  return <><button onClick={() => signIn('user-1')}>Sign in</button><UploadButton getToken={getToken} /></>
}`
  await using customer = await openCustomer(demo, '<App />', { code })
  await page.goto(customer.url)
  await page.getByLabel('Choose files').setInputFiles(file('mine.txt'))
  await expect(page.getByRole('listitem')).toContainText('Failed: Sign in first')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Retry mine.txt' }).click()
  await expect(page.getByRole('listitem')).toContainText('Uploaded')
})

const HALF_DONE = `<UploadDropzone control={{
  uploads: [{ id: '1', name: 'half.txt', type: '', size: 100, sentBytes: 50, state: 'uploading' }],
  busy: true, add() {}, pause() {}, resume() {}, retry() {}, cancel() {},
}} />`

test('nothing moves for those who want that', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, HALF_DONE)
  const moving = () =>
    page.evaluate(
      () =>
        document.getAnimations().length +
        [...document.querySelectorAll('.sluice *')].filter((element) => {
          const { transitionDuration, animationName } = getComputedStyle(element)
          return !/^0s(, 0s)*$/.test(transitionDuration) || animationName !== 'none'
        }).length,
    )
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.goto(customer.url)
  expect(await moving()).toBeGreaterThan(0)
  await page.emulateMedia({ reducedMotion: 'reduce' })
  expect(await moving()).toBe(0)
})

test('in forced colours the button has a border, and the progress is to be seen', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, HALF_DONE)
  await page.emulateMedia({ forcedColors: 'active' })
  await page.goto(customer.url)
  await expectAccessible(page, 'forced colours')
  await expect(page.locator('.sluice-choose')).toHaveCSS('border-top-style', 'solid')
  const progress = page.getByRole('progressbar')
  const picture = (await progress.screenshot()).toString('base64')
  const [sent, left] = await page.evaluate(async (base64) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob())
    const canvas = new OffscreenCanvas(image.width, image.height).getContext('2d')!
    canvas.drawImage(image, 0, 0)
    return [0.25, 0.75].map((share) =>
      [
        ...canvas.getImageData(Math.round(image.width * share), Math.floor(image.height / 2), 1, 1).data,
      ].join(),
    )
  }, picture)
  expect(sent).not.toBe(left)
})
