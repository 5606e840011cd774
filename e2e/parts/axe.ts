import AxeBuilder from '@axe-core/playwright'
import { expect, type Page } from 'playwright/test'

/** What the other mode can change. */
const COLOURS = ['color-contrast', 'link-in-text-block']

/** Nothing serious, in either mode, in the page as it stands, or in a piece of it. */
export async function expectAccessible(page: Page, what: string, piece?: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await graveOf(page, piece), `${what}, light`).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await graveOf(page, piece, COLOURS), `${what}, dark`).toEqual([])
}

async function graveOf(page: Page, piece?: string, rules?: string[]): Promise<string[]> {
  // No page has a frame, which is all that the other, slower mode is for.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  if (piece) axe.include(piece)
  if (rules) axe.withRules(rules)
  const { violations } = await axe.analyze()
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
