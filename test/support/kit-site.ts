import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { nodeTokenSnippet } from '#lib/dashboard/embed/snippets.ts'
import { api } from './browser.ts'
import { loadTokenHandler, startCustomerSite } from './customer-site.ts'
import { openFlippingProxy } from './http-proxies.ts'
import { pageWith, type Shown } from './kit-page.ts'

/** A customer's page on another origin, with the kit's components or plugin. */
export const MIB = 1024 * 1024
export const file = (name: string, size = 1000) => ({
  name,
  mimeType: 'text/plain',
  buffer: Buffer.alloc(size, 'kit '),
})

export const openCustomer = async (demo: DemoDocument, element: string, shown: Shown = {}) =>
  openSite(demo, await pageWith(element, shown))

export async function openSite(demo: DemoDocument, content: string) {
  const fields = { name: 'Kit', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string; uploadUrl: string }>(demo, 'POST', '/pipes', fields)
  process.env.SLUICE_SENDER_TOKEN = demo.senderToken
  const target = { baseUrl: demo.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: pipe.id }
  const backend = { post: await loadTokenHandler(nodeTokenSnippet(target)) }
  const site = await startCustomerSite(content, () => backend.post())
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

/** The same site, whose uploads pass through a line that can stall and break. */
export async function openOnLine(demo: DemoDocument, content: string) {
  const customer = await openSite(demo, content)
  const line = await openFlippingProxy(demo.baseUrl)
  const { post } = customer.backend
  customer.backend.post = async () =>
    new Response((await (await post()).text()).replaceAll(demo.baseUrl, line.url))
  const stored = async () => {
    const { data } = await api<{ data: Stored[] }>(demo, 'GET', `/files?pipeId=${customer.pipeId}`)
    return data
  }
  const close = async () => {
    line.close()
    await customer[Symbol.asyncDispose]()
  }
  return { ...customer, line, stored, [Symbol.asyncDispose]: close }
}

type Stored = {
  id: string
  filename: string
  status: string
  checksum: string | null
  declaredChecksum: string | null
  /** The bytes that did not have to be sent again. */
  savedBytes: number
}

/** The bytes of an object in the demo's bucket. */
export function objectOf({ bucket }: DemoDocument, filename: string): Buffer {
  const all = readdirSync(bucket.directory, { recursive: true, encoding: 'utf8' })
  return readFileSync(join(bucket.directory, all.find((path) => path.endsWith(`/${filename}`))!))
}

/** Holds back every PATCH request until the returned function is called; other requests pass. */
export async function holdBodies(page: Page, uploadUrl: string): Promise<() => void> {
  const gate = Promise.withResolvers<void>()
  await page.route(`${uploadUrl}**`, async (route) => {
    if (route.request().method() === 'PATCH') await gate.promise
    await route.continue().catch(() => undefined)
  })
  // The route is never removed: if interception stops while a request is being continued, the request may get stuck.
  return gate.resolve
}

/** The addresses of the uploads that the page resumes after a reload. */
export const keptUrls = (page: Page): Promise<string[]> =>
  page.evaluate(async () => {
    const database = await new Promise<IDBDatabase>((resolve, reject) => {
      const opening = indexedDB.open('sluice-uploads', 1)
      opening.onsuccess = () => resolve(opening.result)
      opening.onerror = () => reject(opening.error)
    })
    const asking: IDBRequest<{ url?: string }[]> = database
      .transaction('uploads')
      .objectStore('uploads')
      .getAll()
    await new Promise((resolve) => {
      asking.onsuccess = resolve
    })
    database.close()
    return asking.result.flatMap(({ url }) => url ?? [])
  })
