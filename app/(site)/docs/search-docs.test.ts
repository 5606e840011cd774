import { expect, it } from 'vitest'
import { ALL_PAGES } from './pages.ts'
import { readMarkdown } from './read-markdown.ts'
import { GET } from './search.json/route.ts'
import { indexDocs, searchDocs } from './search-docs.ts'
import { sectionsOf } from './sections-of.ts'

const TEXT = `# Webhooks

An event is sent to **your** backend.

## Verify the signature

Compare \`X-Service-Signature\` with [the HMAC](/docs/x).

| Header | Means |
|---|---|
| webhook-id | the event |
`
const sections = sectionsOf({ title: 'Webhooks', href: '/docs/webhooks' }, readMarkdown(TEXT))
const everything = indexDocs(await (await GET()).json())
const find = (query: string) => searchDocs(indexDocs(sections), query).map(({ heading }) => heading)

it('turns each heading into a section, in plain text', () => {
  expect(sections).toEqual([
    {
      page: 'Webhooks',
      heading: 'Webhooks',
      href: '/docs/webhooks',
      text: 'An event is sent to your backend.',
    },
    {
      page: 'Webhooks',
      heading: 'Verify the signature',
      href: '/docs/webhooks#verify-the-signature',
      text: 'Compare X-Service-Signature with the HMAC. Header Means webhook-id the event',
    },
  ])
})

it('finds the sections with most of the words, headings first', () => {
  expect(find('signature')).toEqual(['Verify the signature'])
  expect(find('event HMAC')[0]).toBe('Verify the signature')
  expect(find('event')).toHaveLength(2)
  expect(find('backend nowhere')).toEqual(['Webhooks'])
  expect(find('nowhere')).toEqual([])
  expect(find(' ')).toEqual([])
  expect(searchDocs(indexDocs(sections), 'backend')[0]!.excerpt).toBe('An event is sent to your backend.')
})

it.each(['signatre', 'signnature', 'signoture', 'signautre', 'Signatures', 'signat'])(
  'finds a signature when asked for %s',
  (query) => expect(find(query)).toEqual(['Verify the signature']),
)

it.each([
  ['limit types and sizes', '/docs/restrictions'],
  ['permissions on R2', '/docs/buckets#cloudflare-r2'],
  ['AWS', '/docs/buckets#aws-s3'],
  ['B2', '/docs/buckets#backblaze-b2'],
  ['production deployment', '/docs/self-hosting#make-it-reachable'],
  ['cost', '/docs/pricing'],
  ['verify webhooks in Python', '/docs/webhooks#python'],
  ['reload in React', '/docs/kit'],
  ['upload from Vue', '/docs/web-component'],
  ['Uppy plugin', '/docs/uppy'],
  ['behind nginx', '/docs/self-hosting#behind-a-proxy'],
  ['delete a file', '/docs/concepts#delete-a-file'],
  ['rate limits', '/docs/limits'],
  ['what an operator sees', '/docs/operations#the-operator-console'],
  ['resendDelivery', '/docs/api/deliveries#resendDelivery'],
  ['SFTP_PORT', '/docs/self-hosting#SFTP_PORT'],
  ['quota exceeded', '/docs/problems/quota_exceeded'],
])('answers “%s” with the first or second result', (query, href) => {
  const [first, second] = searchDocs(everything, query).map((hit) => hit.href)
  expect(
    [first, second].some((found) => found?.startsWith(href)),
    `${first} ${second}`,
  ).toBe(true)
})

it.each([
  ['only allow images', '/docs/restrictions#allowed-types-sizes-and-origins'],
  ['allowed types and sizes', '/docs/restrictions#allowed-types-sizes-and-origins'],
  ['permissions on AWS', '/docs/buckets#aws-s3'],
  ['AWS IAM policy', '/docs/buckets#aws-s3'],
  ['permissions on B2', '/docs/buckets#backblaze-b2'],
  ['production set-up', '/docs/self-hosting'],
  ['how much does it cost', '/docs/pricing'],
  ['429', '/docs/problems/rate_limited'],
  ['SFTP on Windows', '/docs/sftp#winscp-on-windows'],
])('answers “%s” with the first result', (query, href) =>
  expect(searchDocs(everything, query)[0]!.href).toBe(href),
)

it('has one page whose title names limits', () => {
  const titles = ALL_PAGES.map(({ title }) => title)
  expect(titles.filter((title) => /limit/i.test(title))).toEqual(['Limits'])
  expect(searchDocs(everything, 'restrict uploads')[0]!.href).toBe('/docs/restrictions')
})
