import { chromium } from 'playwright'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { plainUppySnippet } from '#lib/dashboard/embed/browser-snippets.ts'
import { nodeTokenSnippet } from '#lib/dashboard/embed/snippets.ts'
import { api } from './api.ts'
import { findChromium } from './chromium.ts'
import { loadTokenHandler, startCustomerSite } from './customer-site.ts'
import { openHeldLine } from './tcp-proxies.ts'

/** A customer's page with the Embed page's code, in a browser whose connection to Sluice can be stalled and cut. */
export async function openCustomer(demo: DemoDocument) {
  const fields = { name: 'Embedded', dataStoreId: demo.dataStoreId, source: { http: true } }
  const pipe = await api<{ id: string; uploadUrl: string }>(demo, 'POST', '/pipes', fields)
  const target = { baseUrl: demo.baseUrl, uploadUrl: pipe.uploadUrl, pipeId: pipe.id }
  const sluice = new URL(demo.uploadUrl)
  const line = await openHeldLine(sluice)
  process.env.SLUICE_SENDER_TOKEN = demo.senderToken
  const backend = { post: await loadTokenHandler(nodeTokenSnippet(target)) }
  const site = await startCustomerSite(plainUppySnippet(target), () => backend.post())
  const options = await findChromium()
  // The snippet stays unchanged: the browser itself resolves Sluice's host to this proxy.
  const rule = `--host-resolver-rules=MAP ${sluice.host} 127.0.0.1:${line.port}`
  const browser = await chromium.launch({ ...options, args: [...(options.args ?? []), rule] })
  const page = await browser.newPage()
  await page.clock.install()
  const answers: { method: string; status: number; offset: number }[] = []
  page.on('response', (response) => {
    if (!response.url().startsWith(target.uploadUrl)) return
    const offset = Number(response.headers()['upload-offset'])
    answers.push({ method: response.request().method(), status: response.status(), offset })
  })
  await page.goto(site.url)
  return {
    page,
    line,
    site,
    backend,
    pipeId: pipe.id,
    /** The offset in the server's last successful response to HEAD. */
    confirmed: () =>
      answers.findLast(({ method, status }) => method === 'HEAD' && status === 200)?.offset ?? 0,
    refusals: () => answers.filter(({ status }) => status === 401).length,
    async close() {
      await browser.close()
      await line.close()
      await site.close()
    },
  }
}

export async function revokeNewest(demo: DemoDocument, pipeId: string): Promise<void> {
  const { data } = await api<{ data: { id: string }[] }>(demo, 'GET', `/tokens?limit=1&pipeId=${pipeId}`)
  await api(demo, 'POST', `/tokens/${data[0]!.id}/revoke`)
}
