import axe, { type AxeResults, type RunOptions } from 'axe-core'
import { expect, type Page } from 'playwright/test'

/** The rules whose results depend on the color mode. */
const COLOURS = ['color-contrast', 'link-in-text-block']
/** Axe calls these moderate, but without them, a page cannot be navigated with a screen reader. */
const LANDMARKS = /^(bypass|landmark-|page-has-heading-one|region)/

type Look = { mode: 'light' | 'dark'; width?: number; rules?: string[] }
const LIGHT: Look = { mode: 'light' }
const DARK: Look = { mode: 'dark', rules: COLOURS }
const THOROUGH: Look[] = [1280, 360].flatMap((width) => [
  { mode: 'light', width },
  { mode: 'dark', width },
])

/**
 * Expects no serious violations in the page, or in a part of it: checks every rule in light mode, and only colors in
 * dark mode. `npm run drill -- axe` checks every rule in both modes and at both widths.
 */
export const expectAccessible = (page: Page, what: string, piece = 'html'): Promise<void> =>
  expectNothingSerious(page, { what, piece, quick: [LIGHT, DARK] })

/**
 * Checks a page state whose dark-mode colors are checked by another test. `npm run drill -- axe` checks them here too.
 */
export const expectAccessibleInLight = (page: Page, what: string, piece = 'html'): Promise<void> =>
  expectNothingSerious(page, { what, piece, quick: [LIGHT] })

async function expectNothingSerious(
  page: Page,
  { what, piece, quick }: { what: string; piece: string; quick: Look[] },
): Promise<void> {
  // Runs axe inside the page, since there are no frames, and sends the script only once.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  const size = page.viewportSize()!
  // A test on a narrow page skips the wide check, since the content under test may only exist on narrow pages.
  const looks = process.env.AXE_THOROUGH
    ? THOROUGH.filter(({ width }) => width! <= Math.max(size.width, 360))
    : quick
  for (const { mode, width = size.width, rules } of looks) {
    if (width !== size.width) await page.setViewportSize({ ...size, width })
    await page.emulateMedia({ colorScheme: mode })
    // Axe does not check the title, because a page that changes its filters briefly has none.
    await expect(page).toHaveTitle(/./)
    expect(await graveOf(page, piece, rules), `${what}, ${mode}, ${width} pixels`).toEqual([])
  }
  await page.setViewportSize(size)
}

type Axe = { run(piece: string, options: RunOptions): Promise<AxeResults> }

async function graveOf(page: Page, piece: string, rules?: string[]): Promise<string[]> {
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(rules ? { runOnly: rules } : { rules: { 'document-title': { enabled: false } } }),
  }
  const violations = await page.evaluate(
    async (asked) => {
      const here = window as unknown as { axe: Axe }
      return (await here.axe.run(asked.piece, asked.options)).violations
    },
    { piece, options },
  )
  return violations
    .filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || LANDMARKS.test(id))
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
