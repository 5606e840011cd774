import type { PageQuery } from '#lib/platform/db/page.ts'

export type Search = Promise<Record<string, string | string[] | undefined>>

/** The query parameters of an address. If a name occurs more than once, its first value is used. */
export async function readSearch(search: Search): Promise<Record<string, string | undefined>> {
  const entries = Object.entries(await search)
  return Object.fromEntries(entries.map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))
}

export function pageOf(query: Record<string, string | undefined>, limit = 50): PageQuery {
  return { limit, cursor: query.cursor || undefined }
}
