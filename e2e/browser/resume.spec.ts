import type { Page } from 'playwright/test'
import { expect, test } from '../parts/browser.ts'

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
