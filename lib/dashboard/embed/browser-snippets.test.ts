import { expect, it } from 'vitest'
import {
  plainUppySnippet,
  TUS_JS_INSTALL,
  tusJsSnippet,
  UPPY_SNIPPETS,
  uppyPackages,
} from './browser-snippets.ts'

const TARGET = {
  baseUrl: 'https://sluice.test',
  uploadUrl: 'https://sluice.test/pipes/p/files/',
  pipeId: 'p',
}
const FRAMEWORKS = Object.keys(UPPY_SNIPPETS) as (keyof typeof UPPY_SNIPPETS)[]

it.each([
  ...FRAMEWORKS.map(
    (framework) => [`@sluice/uppy ${uppyPackages(framework)}`, UPPY_SNIPPETS[framework]] as const,
  ),
  [TUS_JS_INSTALL.replace('npm install ', ''), tusJsSnippet(TARGET)] as const,
])('%s is exactly what its snippet imports', (packages, snippet) => {
  const imported = [...snippet.matchAll(/^import (?:.* from )?'((?:@[^/']+\/)?[^/']+)/gm)].map(
    ([, name]) => name!,
  )
  expect(packages.split(' ').sort()).toEqual([...new Set(imported)].sort())
})

it('sets Uppy up in at most twelve lines, which differ only in the component', () => {
  const snippets = [plainUppySnippet(TARGET), ...Object.values(UPPY_SNIPPETS)].map((text) =>
    text.trimEnd().split('\n'),
  )
  for (const lines of snippets) expect(lines.length).toBeLessThanOrEqual(12)
  const [first, ...others] = FRAMEWORKS.map((framework) =>
    UPPY_SNIPPETS[framework].replace(`@uppy/${framework}/`, '@uppy/a-framework/').split('\n').slice(1, 10),
  )
  for (const other of others) expect(other).toEqual(first)
})
