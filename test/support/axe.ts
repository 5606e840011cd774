import axe, { type AxeResults, type RunOptions } from 'axe-core'
import { expect, type Page } from 'playwright/test'

/** What the other mode can change. */
const COLOURS = ['color-contrast', 'link-in-text-block']

/** Nothing serious, in either mode, in the page as it stands, or in a piece of it. */
export async function expectAccessible(page: Page, what: string, piece = 'html'): Promise<void> {
  // In the page itself: it has no frames, and what is there already need not be sent again.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source)
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await graveOf(page, piece), `${what}, light`).toEqual([])
  await page.emulateMedia({ colorScheme: 'dark' })
  expect(await graveOf(page, piece, COLOURS), `${what}, dark`).toEqual([])
}

type Axe = { run(piece: string, options: RunOptions): Promise<AxeResults> }

async function graveOf(page: Page, piece: string, rules?: string[]): Promise<string[]> {
  const options: RunOptions = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) }
  const violations = await page.evaluate(
    async (asked) => {
      const here = window as unknown as { axe: Axe }
      return (await here.axe.run(asked.piece, asked.options)).violations
    },
    { piece, options },
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
