import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const sources = globSync('{app,components}/**/*.tsx').map((path) => ({
  path,
  forms: readFileSync(path, 'utf8').match(/<form\b(?:[^>]|=>)*>/g) ?? [],
}))

/**
 * Until its script loads, a form without an action is sent by GET, with its fields in the address. React sends any
 * form whose action is a server action by POST.
 */
it('every form has an action, so none puts its fields into an address', () => {
  const forms = sources.flatMap(({ path, forms }) => forms.map((form) => [path, form] as const))
  expect(forms.length).toBeGreaterThan(0)
  for (const [path, form] of forms) expect(form, path).toMatch(/\baction=\{/)
})
