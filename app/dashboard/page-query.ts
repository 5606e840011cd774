import type { PageQuery } from '#lib/platform/db/page.ts'
import { isText } from '#lib/platform/kernel/parse-input.ts'

export type Search = Promise<Record<string, string | string[] | undefined>>

/**
 * The query parameters of an address. If a name occurs more than once, its first value is used. Values that cannot be in
 * the database are left out.
 */
export async function readSearch(search: Search): Promise<Record<string, string | undefined>> {
  const entries = Object.entries(await search).map(([name, value]) => [name, [value].flat()[0]] as const)
  return Object.fromEntries(entries.filter(([, value]) => value === undefined || isText(value)))
}

export function pageOf(query: Record<string, string | undefined>, limit = 50): PageQuery {
  return { limit, cursor: query.cursor || undefined }
}
