import { getRuntime } from '#lib/platform/runtime.ts'

/** Allows only the public pages; everything else requires sign-in or is for programs. */
export function GET(): Response {
  const lines = ['User-agent: *', 'Disallow: /dashboard', 'Disallow: /api/', 'Disallow: /pipes/', '']
  const text = [...lines, `Sitemap: ${getRuntime().config.baseUrl}/sitemap.xml`, ''].join('\n')
  return new Response(text, { headers: { 'Content-Type': 'text/plain; charset=utf-8' } })
}

export const dynamic = 'force-dynamic'
