import { errorAdvice } from '#lib/platform/kernel/error-advice.ts'
import { type ErrorCode, errorCodes } from '#lib/platform/kernel/errors.ts'
import { settings } from '#lib/platform/settings/settings.ts'
import { API_GROUPS } from '../api/groups.ts'
import { ALL_PAGES } from '../pages.ts'
import { readDoc } from '../read-doc.ts'
import { type MarkedToken, readMarkdown } from '../read-markdown.ts'
import { sectionsOf } from '../sections-of.ts'

/** What the search looks through. Built once with the pages, with placeholders for addresses that nobody searches for. */
export const dynamic = 'force-static'

const ADDRESSES = { baseUrl: '{base_url}', uploadUrl: '{upload_url}' }

/** Guides contain too much code to index, mostly the same in each. Each error and setting is a section of its own. */
const isSearched = (slug: string) => (token: MarkedToken) =>
  token.type === 'code'
    ? !slug.startsWith('guides/')
    : token.type !== 'table' || !/^(Code|Setting)$/.test(token.header[0]!.text)

export async function GET(): Promise<Response> {
  const pages = await Promise.all(
    ALL_PAGES.map(async ({ slug, title, summary }) => {
      const tokens = readMarkdown(await readDoc(slug, ADDRESSES)).filter(isSearched(slug))
      const [first, ...rest] = sectionsOf({ title, href: `/docs/${slug}` }, tokens)
      return [{ ...first!, text: `${first!.text} ${summary}` }, ...rest]
    }),
  )
  const operations = API_GROUPS.flatMap(({ title, href, operations }) =>
    operations.map(({ id, method, path, summary }) => ({
      page: `API reference: ${title}`,
      heading: `${method} ${path}`,
      href: `${href}#${id}`,
      text: `${summary} ${id}`,
    })),
  )
  const errors = (Object.keys(errorCodes) as ErrorCode[]).map((code) => ({
    page: `Errors: ${errorCodes[code][0]}`,
    heading: code,
    href: `/docs/problems/${code}`,
    text: `${errorCodes[code][1]}. ${errorAdvice[code].means} ${errorAdvice[code].remedy}`,
  }))
  const names = Object.entries(settings).map(([name, { description }]) => ({
    page: 'Settings',
    heading: name,
    href: `/docs/self-hosting#${name}`,
    text: description,
  }))
  return Response.json([...pages.flat(), ...operations, ...errors, ...names])
}
