import { expect, it } from 'vitest'
import { REACT_INSTALL, reactUppySnippet, TUS_JS_INSTALL, tusJsSnippet } from './browser-snippets.ts'

const TARGET = {
  baseUrl: 'https://sluice.test',
  uploadUrl: 'https://sluice.test/pipes/p/files/',
  pipeId: 'p',
}

it.each([
  [REACT_INSTALL, reactUppySnippet(TARGET)],
  [TUS_JS_INSTALL, tusJsSnippet(TARGET)],
])('%s installs exactly what it imports', (install, snippet) => {
  const imported = [...snippet.matchAll(/^import (?:.* from )?'((?:@[^/']+\/)?[^/']+)/gm)].map(
    ([, name]) => name!,
  )
  const needed = new Set(imported.filter((name) => name !== 'react'))
  expect(install.split(' ').slice(2)).toEqual([...needed].sort())
})
