import { ALL_PAGES } from '#components/docs/pages.ts'
import { readDoc } from '#components/docs/read-doc.ts'
import { type MarkedToken, readMarkdown } from '#components/docs/read-markdown.ts'
import { sectionsOf } from '#components/docs/sections-of.ts'
import { OPERATIONS } from '#lib/api/operations.ts'

/** The words of the documentation, made once when the pages are built. Addresses stay as their names: nobody looks for them. */
export const dynamic = 'force-static'

const ADDRESSES = { baseUrl: '{base_url}', uploadUrl: '{upload_url}' }

/** Of the code of the guides there is too much, and most of it is the same. */
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
