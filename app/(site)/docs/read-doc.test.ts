import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OF_REPOSITORY, readDoc } from './read-doc.ts'

const server = { baseUrl: 'https://sluice.example.com', uploadUrl: 'https://sluice.example.com' }

it.each([...OF_REPOSITORY])('links %s, which the repository also has, only to pages', async (slug) => {
  const text = await readDoc(slug, server)
  expect([...text.matchAll(/\]\((?!https?:|#|\/docs\/)([^)]*)/g)].map(([, link]) => link)).toEqual([])
})

it.each([
  [{}, '10 GB of transfer in each calendar month are free'],
  [{ freeTierBytes: 5e12 }, '5 TB of transfer'],
  [{ freeTierBytes: 0 }, 'free on this server, without a limit'],
  [{ pricePerGb: '0.05 EUR' }, 'Each GB above that costs 0.05 EUR.'],
  [{ pricingText: 'Included in your contract.' }, 'Included in your contract.'],
])('says what the operator charges: %j', async (settings, words) => {
  expect(await readDoc('pricing', { ...server, ...settings })).toContain(words)
})

it('shows the web component in frameworks as in the examples', async () => {
  const files = globSync('examples/{vue,svelte,angular,solid}/*.{vue,svelte,ts,tsx}')
  const examples = files.map((file) => readFileSync(file, 'utf8').trim())
  const blocksIn = (markdown: string) => {
    const [, section = ''] = markdown.match(/^## In frameworks\n(.*?)^## /ms) ?? []
    return [...section.matchAll(/```.*?\n(.*?)\n```/gs)].map(([, code]) => code!)
  }
  const shown = blocksIn(await readDoc('web-component', server))
  expect(shown).toHaveLength(5)
  expect(examples).toEqual(expect.arrayContaining(shown))
  const [lines = ''] = blocksIn(readFileSync('packages/uploader/README.md', 'utf8'))
  const elements = lines.split('\n').filter((line) => line.startsWith('<sluice-uploader'))
  expect(elements).toHaveLength(4)
  for (const element of elements) expect(examples.join()).toContain(element)
})
