import type { Page } from 'playwright/test'

/** Long enough for a dialog to load; until it opens, Tab cycles through the page behind it. */
const PATIENCE_MS = 15_000

/** Presses Tab until the element with this name has the focus, like someone without a mouse. */
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
  throw new Error(`${name} cannot be reached with the keyboard`)
}

/** Moves the focus to the element with Tab, then presses the key. */
export async function press(page: Page, name: RegExp | string, key: 'Enter' | 'Space' = 'Enter') {
  await tabTo(page, name)
  await page.keyboard.press(key)
}
