import type { Page } from 'playwright/test'

/** Long enough for a dialog to load; until it is there, Tab cycles through the page behind it. */
const PATIENCE_MS = 15_000

/** Presses Tab until it has the focus, like someone without a mouse. */
export async function tabTo(page: Page, name: RegExp | string): Promise<void> {
  for (const untilMs = Date.now() + PATIENCE_MS; Date.now() < untilMs; ) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(() => {
      const element = document.activeElement as HTMLElement | null
      const named = element?.getAttribute('aria-labelledby')
      const labels = (element as HTMLInputElement | null)?.labels
      return (
        element?.getAttribute('aria-label') ??
        (named && document.getElementById(named)?.textContent) ??
        labels?.[0]?.textContent ??
        element?.textContent ??
        ''
      )
    })
    if (typeof name === 'string' ? focused.trim() === name : name.test(focused)) return
  }
  throw new Error(`No way to ${name} by keyboard`)
}

/** Moves to it with Tab and presses it. */
export async function press(page: Page, name: RegExp | string, key: 'Enter' | 'Space' = 'Enter') {
  await tabTo(page, name)
  await page.keyboard.press(key)
}
