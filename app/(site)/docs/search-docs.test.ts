import { expect, it } from 'vitest'
import { readMarkdown } from './read-markdown.ts'
import { searchDocs } from './search-docs.ts'
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

it('finds sections that contain every word, headings first', () => {
  expect(searchDocs(sections, 'signature').map(({ heading }) => heading)).toEqual(['Verify the signature'])
  expect(searchDocs(sections, 'event HMAC').map(({ heading }) => heading)).toEqual(['Verify the signature'])
  expect(searchDocs(sections, 'event')).toHaveLength(2)
  expect(searchDocs(sections, 'event nowhere')).toEqual([])
  expect(searchDocs(sections, ' ')).toEqual([])
  expect(searchDocs(sections, 'backend')[0]!.excerpt).toBe('An event is sent to your backend.')
})
