import { resolve } from 'node:path'
import { build } from 'esbuild'
import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/demo-document.ts'
import { nodeTokenSnippet } from '#lib/dashboard/embed/token-snippets.ts'
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

async function openCustomer(demo: DemoDocument, element: string) {
  const fields = { name: 'Kit', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string; uploadUrl: string }>(demo, 'POST', '/pipes', fields)
  process.env.SLUICE_SENDER_TOKEN = demo.senderToken
  const target = { baseUrl: demo.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: pipe.id }
  const backend = { post: await loadTokenHandler(nodeTokenSnippet(target)) }
  const site = await startCustomerSite(await pageWith(element), () => backend.post())
  return {
    url: site.url,
    uploadUrl: pipe.uploadUrl,
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

async function pageWith(element: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import { createRoot } from 'react-dom/client'
import { UploadButton, UploadDropzone } from './packages/react/src/index.ts'
import './packages/react/src/styles.css'
createRoot(document.getElementById('root')!).render(${element})`,
      loader: 'tsx',
      resolveDir: process.cwd(),
    },
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    outdir: resolve('out'),
    define: { 'process.env.NODE_ENV': '"production"' },
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

test('a folder is dropped, with what is in its folders', async ({ demo, page }) => {
  await using customer = await openCustomer(demo, '<UploadDropzone />')
  await page.goto(customer.url)
  await page.evaluate(() => {
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
      fileEntry('/trip/a.txt'),
      folderEntry('/trip/day 2', [fileEntry('/trip/day 2/b.txt'), fileEntry('/trip/day 2/c.txt')]),
    ])
    const drop = new Event('drop', { bubbles: true, cancelable: true })
    const dataTransfer = { items: [{ webkitGetAsEntry: () => entries }], files: [] }
    document.querySelector('.sluice-dropzone')!.dispatchEvent(Object.assign(drop, { dataTransfer }))
  })
  await expect(page.getByRole('listitem').filter({ hasText: 'Uploaded' })).toHaveCount(3)
  await expect(page.getByText('trip/day 2/c.txt')).toBeVisible()
  await expect
    .poll(customer.statuses)
    .toEqual({ 'a.txt': 'transferred', 'b.txt': 'transferred', 'c.txt': 'transferred' })
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

test('an upload goes on in a second tab once the first is closed, and not before', async ({
  demo,
  page,
  context,
}) => {
  await using customer = await openCustomer(demo, '<UploadButton />')
  await page.goto(customer.url)
  const flow = await holdBodies(page, customer.uploadUrl)
  await page.getByLabel('Choose files').setInputFiles(file('shared.txt', MIB))
  await expect.poll(async () => Object.keys(await customer.statuses()).length).toBe(1)
  const second = await context.newPage()
  await second.goto(customer.url)
  await second.waitForFunction(async () => (await navigator.locks.query()).pending?.length === 0)
  await expect(second.getByRole('listitem')).toHaveCount(0)
  await page.close()
  await second.reload()
  await expect(second.getByRole('listitem')).toContainText('Uploaded')
  expect(await customer.statuses()).toEqual({ 'shared.txt': 'transferred' })
  await flow().catch(() => undefined)
})
