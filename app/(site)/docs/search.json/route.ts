import { OPERATIONS } from '#lib/api/operations.ts'
import { ALL_PAGES } from '../pages.ts'
import { readDoc } from '../read-doc.ts'
import { type MarkedToken, readMarkdown } from '../read-markdown.ts'
import { sectionsOf } from '../sections-of.ts'

/**
 * The documentation's search index, built once with the pages. Addresses stay as placeholders, since nobody searches
 * for them.
 */
export const dynamic = 'force-static'

const ADDRESSES = { baseUrl: '{base_url}', uploadUrl: '{upload_url}' }

/** Guides contain too much code to index, and most of it is the same in each. */
const isSearched =
  (slug: string) =>
  ({ type }: MarkedToken) =>
    !slug.startsWith('guides/') || type !== 'code'

export async function GET(): Promise<Response> {
  const pages = await Promise.all(
    ALL_PAGES.map(async ({ slug, title }) =>
      sectionsOf(
        { title, href: `/docs/${slug}` },
        readMarkdown(await readDoc(slug, ADDRESSES)).filter(isSearched(slug)),
      ),
    ),
  )
  const operations = OPERATIONS.map(({ id, method, path, summary }) => ({
    page: 'API reference',
    heading: `${method} ${path}`,
    href: `/docs/api#${id}`,
    text: `${summary} ${id}`,
  }))
  return Response.json([...pages.flat(), ...operations])
}
