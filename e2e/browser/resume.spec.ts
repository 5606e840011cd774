import type { Page } from 'playwright/test'
import { plainUppySnippet } from '#lib/embed/browser-snippets.ts'
import { nodeTokenSnippet } from '#lib/embed/token-snippets.ts'
import { api, expect, test } from '../parts/browser.ts'
import { loadTokenHandler, startCustomerSite } from '../parts/customer-site.ts'

const MIB = 1024 * 1024
const bytes = (length: number) => Buffer.from(Array.from({ length }, (_, at) => (at * 7919) % 251))
const file = (name: string, size: number) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: bytes(size),
})
const figure = async (page: Page, name: string) =>
  Number(await page.locator(`[data-figure=${name}]`).getAttribute('data-value'))

test('Try it resumes after a cut, offline, an expired and a revoked token, and a reload', async ({
  owner: page,
  demo,
}) => {
  await page.goto(`/dashboard/pipes/${demo.pipeId}/try`)
  await page
    .locator('.uppy-Dashboard-input')
    .first()
    .setInputFiles(file('trial.bin', 8 * MIB))
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  const wire = page.getByLabel('What went over the wire')
  await expect.poll(() => figure(page, 'confirmed')).toBeGreaterThan(0)

  await page.getByRole('button', { name: 'Cut connection' }).click()
  await expect(wire).toContainText('HEAD → 200')
  expect(await figure(page, 'saved')).toBeGreaterThan(0)

  await page.getByRole('button', { name: 'Go offline' }).click()
  await expect(wire).toContainText('offline')
  const confirmed = await figure(page, 'confirmed')
  await page.getByRole('button', { name: 'Go online' }).click()
  await expect.poll(() => figure(page, 'confirmed')).toBeGreaterThan(confirmed)

  await page.getByRole('button', { name: 'Expire token' }).click()
  await expect(wire).toContainText('the token expired')
  const expired = await figure(page, 'confirmed')
  await expect.poll(() => figure(page, 'confirmed')).toBeGreaterThan(expired)

  await page.getByRole('button', { name: 'Revoke token' }).click()
  await expect(wire).toContainText('→ 401')
  await expect(wire).toContainText('a fresh token')
  await page.reload()
  const go = page.locator('.uppy-StatusBar-actionBtn--upload, .uppy-Dashboard-serviceMsg-actionBtn').first()
  await go.click()
  await expect(wire).toContainText('HEAD → 200')
  await page.getByLabel('Slow line').uncheck()
  await expect(page.getByText('Complete', { exact: true })).toBeVisible({ timeout: 30_000 })
  expect(await figure(page, 'confirmed')).toBe(8 * MIB)
  expect(await figure(page, 'saved')).toBeGreaterThan(0)
  await expect(page.getByText('transferred')).toBeVisible()
  await expect(page.getByText('delivered', { exact: true })).toBeVisible()

  await page.getByRole('link', { name: 'Its whole timeline' }).click()
  await expect(page.getByText('Upload created')).toBeVisible()
  await expect(page.getByText('In the bucket')).toBeVisible()
  await expect(page.getByText(/Webhook delivered: 2/)).toBeVisible()
})

test('the embedded uploader goes on after a cut, a revoked token and a reload of a page of another origin', async ({
  page,
  demo,
}) => {
  process.env.SLUICE_SENDER_TOKEN = demo.senderToken
  const target = {
    baseUrl: demo.baseUrl,
    uploadUrl: `${demo.uploadUrl}/pipes/${demo.pipeId}/files/`,
    pipeId: demo.pipeId,
  }
  const site = await startCustomerSite(
    plainUppySnippet(target),
    await loadTokenHandler(nodeTokenSnippet(target)),
  )
  const network = await page.context().newCDPSession(page)
  const limit = (offline: boolean, uploadThroughput: number) =>
    network.send('Network.emulateNetworkConditions', {
      offline,
      latency: 5,
      downloadThroughput: -1,
      uploadThroughput,
    })
  const offsets: number[] = []
  page.on('response', async (response) => {
    if (response.request().method() === 'HEAD')
      offsets.push(Number(await response.headerValue('upload-offset')))
  })
  await network.send('Network.enable')
  await limit(false, 2 * MIB)
  await page.goto(site.url)
  await page
    .locator('.uppy-Dashboard-input')
    .first()
    .setInputFiles(file('embedded.bin', 9 * MIB))
  const created = page.waitForResponse(
    (response) => response.url() === target.uploadUrl && response.status() === 201,
  )
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  const fileId = (await (await created).headerValue('location'))!.split('/').at(-1)!
  const offset = async () => (await api<{ offset: number }>(demo, 'GET', `/files/${fileId}`)).offset

  // Cut: the line is dead for a moment; what arrived is kept, and the client asks where to go on.
  await expect(page.getByText(/Uploading: [1-9]/)).toBeVisible()
  const broken = page.waitForEvent('requestfailed', (request) => request.method() === 'PATCH')
  await limit(true, 0)
  await broken
  await limit(false, 2 * MIB)
  await expect.poll(() => offsets.length).toBeGreaterThan(0)

  // The token is revoked: the backend is asked for another.
  const [token] = (await api<{ data: { id: string }[] }>(demo, 'GET', '/tokens?limit=1')).data
  await api(demo, 'POST', `/tokens/${token!.id}/revoke`)
  await page.reload()
  await page
    .locator('.uppy-StatusBar-actionBtn--upload, .uppy-Dashboard-serviceMsg-actionBtn')
    .first()
    .click()
  await limit(false, -1)
  await expect(page.getByText('Complete', { exact: true })).toBeVisible({ timeout: 30_000 })
  expect(site.tokensAsked()).toBeGreaterThan(1)
  expect(await offset()).toBe(9 * MIB)
  expect(Math.max(...offsets)).toBeGreaterThan(0)
  await site.close()
})
