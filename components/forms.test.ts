import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const sources = globSync('{app,components}/**/*.tsx').map((path) => ({
  path,
  forms: readFileSync(path, 'utf8').match(/<form\b(?:[^>]|=>)*>/g) ?? [],
}))

/**
 * Until the page's script loads, the browser submits a form without an action by GET, with its fields in the URL. A
 * form whose action is a server action is always submitted by POST.
 */
it('every form has an action, so that no field values end up in a URL', () => {
  const forms = sources.flatMap(({ path, forms }) => forms.map((form) => [path, form] as const))
  expect(forms.length).toBeGreaterThan(0)
  for (const [path, form] of forms) expect(form, path).toMatch(/\baction=\{/)
})
