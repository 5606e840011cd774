import { getRuntime } from '#lib/platform/runtime.ts'
import { API_GROUPS } from '../(site)/docs/api/groups.ts'
import { ALL_PAGES } from '../(site)/docs/pages.ts'

export const dynamic = 'force-dynamic'

/** The addresses for search engines. */
export function GET(): Response {
  const { baseUrl } = getRuntime().config
  const paths = [
    '',
    ...ALL_PAGES.map(({ slug }) => `/docs/${slug}`),
    '/docs/api',
    ...API_GROUPS.map(({ href }) => href),
    '/login',
    '/sign-up',
  ]
  const urls = paths.map((path) => `  <url><loc>${baseUrl}${path || '/'}</loc></url>`)
  const text = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...urls,
    '</urlset>',
    '',
  ].join('\n')
  return new Response(text, { headers: { 'Content-Type': 'application/xml' } })
}
