import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test as base, expect, type Page } from 'playwright/test'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'

type Fixtures = {
  demo: DemoDocument
  /** Errors and warnings that the page logged, and errors that it threw. */
  complaints: string[]
  /** A page where the demo workspace's owner is signed in. */
  owner: Page
}

export { api } from './api.ts'
export { expect }

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the property names in the first parameter
  baseURL: async ({}, use) => use(process.env.SLUICE_URL),
  // biome-ignore lint/correctness/noEmptyPattern: as above
  demo: async ({}, use) => use(JSON.parse(readFileSync(join(process.env.SLUICE_DATA!, 'demo.json'), 'utf8'))),
  complaints: async ({ page }, use) => use(listen(page)),
  owner: async ({ browser, baseURL }, use) => {
    const context = await browser.newContext({
      baseURL: baseURL!,
      storageState: process.env.SLUICE_STATE!,
      reducedMotion: 'reduce',
    })
    await use(await context.newPage())
    await context.close()
  },
})

/** Presses ⌘K until the palette opens: it only works once the page's script has loaded. */
export async function openPalette(page: Page): Promise<void> {
  await expect(async () => {
    await page.keyboard.press('ControlOrMeta+k')
    await expect(page.getByRole('dialog', { name: 'Find anything' })).toBeVisible({ timeout: 2000 })
  }).toPass()
}

export function listen(page: Page): string[] {
  const complaints: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(`${message.type()}: ${message.text()}`)
  })
  page.on('pageerror', (error) => complaints.push(`thrown: ${error.message}`))
  return complaints
}
