import type { Page } from 'playwright/test'
import { expect, test } from '../parts/browser.ts'

/** Tab until the focus is on it, as somebody without a mouse would. */
async function tabTo(page: Page, name: RegExp | string): Promise<void> {
  for (let pressed = 0; pressed < 60; pressed += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null
      const labels = (element as HTMLInputElement | null)?.labels
      return element?.getAttribute('aria-label') ?? labels?.[0]?.textContent ?? element?.textContent ?? ''
    })
    if (typeof name === 'string' ? focused.trim() === name : name.test(focused)) return
  }
  throw new Error(`No way to ${name} by keyboard`)
}

test('the main ways can be gone by keyboard alone', async ({ owner: page }) => {
  await page.goto('/dashboard')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to the content' })).toBeFocused()
  await tabTo(page, 'Senders')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Senders' })).toBeVisible()
  await tabTo(page, 'Create a Sender')
  await page.keyboard.press('Enter')
  // The dialog has the focus, and keeps it.
  await expect(page.getByLabel('Name')).toBeFocused()
  await page.keyboard.type('by keyboard')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your Sender token')).toBeVisible()
  await tabTo(page, 'I have saved it')
  await page.keyboard.press('Space')
  await tabTo(page, 'Done')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('link', { name: 'by keyboard' })).toBeVisible()

  await page.goto('/dashboard/pipes')
  await tabTo(page, 'Demo Pipe')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Demo Pipe' })).toBeVisible()
  await tabTo(page, 'Embed')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('tab', { name: 'Uppy', exact: true })).toBeVisible()
  await tabTo(page, 'Uppy')
  await page.keyboard.press('ArrowRight')
  await expect(page.getByRole('tab', { name: 'Uppy for React' })).toBeFocused()
  await expect(page.getByRole('tabpanel', { name: 'Uppy for React' })).toBeVisible()

  await page.goto('/dashboard/settings/account')
  await page.goto('/dashboard/senders')
  await tabTo(page, 'by keyboard')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'by keyboard' })).toBeVisible()
  await tabTo(page, 'Revoke…')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'Revoke…' })).toBeFocused()
})

test('a phone has the same ways, by the menu', async ({ browser, baseURL }) => {
  const context = await browser.newContext({
    baseURL: baseURL!,
    storageState: process.env.SLUICE_STATE!,
    viewport: { width: 390, height: 844 },
  })
  const page = await context.newPage()
  await page.goto('/dashboard')
  await page.getByRole('button', { name: 'Open the menu' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Usage' }).click()
  await expect(page.getByRole('heading', { name: 'Usage' })).toBeVisible()
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await context.close()
})
