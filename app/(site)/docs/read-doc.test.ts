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
