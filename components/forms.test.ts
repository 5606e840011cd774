import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const sources = globSync('{app,components}/**/*.tsx').map((path) => ({
  path,
  forms: readFileSync(path, 'utf8').match(/<form\b(?:[^>]|=>)*>/g) ?? [],
}))

/**
 * A form without an action is sent by GET until its script is there, and its fields are then in the address. React makes
 * a POST of every one whose action is a server action.
 */
it('every form has an action, so none puts its fields into an address', () => {
  const forms = sources.flatMap(({ path, forms }) => forms.map((form) => [path, form] as const))
  expect(forms.length).toBeGreaterThan(0)
  for (const [path, form] of forms) expect(form, path).toMatch(/\baction=\{/)
})
