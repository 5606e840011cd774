import { z } from 'zod'
import { invalidRequest } from '../kernel/errors.ts'

/**
 * Lists use keyset pagination: a cursor is the key from which reading continues, so later pages cost no more than the
 * first.
 */
export const pageQuery = z.strictObject({
  limit: z.coerce
    .number()
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(100, 'must be at most 100')
    .default(50),
  cursor: z.string().max(200, 'was not issued by Sluice').optional(),
})
export type PageQuery = z.output<typeof pageQuery>

export type Page<Item> = { data: Item[]; nextCursor: string | null }

/** A page of a list in the interface, where people can also go to the previous page. */
export type TurnedPage<Item> = Page<Item> & { previousCursor: string | null }

export function pageAnswer<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), nextCursor: z.string().nullable() })
}

/** `rows` has one more row than `limit` if there is another page. */
export function toPage<Row, Item>(
  rows: Row[],
  limit: number,
  toItem: (row: Row) => Item,
  keyOf: (row: Row) => string,
): Page<Item> {
  const shown = rows.slice(0, limit)
  const more = rows.length > limit
  return { data: shown.map(toItem), nextCursor: more ? writeCursor(keyOf(shown.at(-1)!)) : null }
}

/** All rows of a query, page by page. Each page is read on demand. */
export async function* eachPage<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item[]> {
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    yield page.data
    cursor = page.nextCursor ?? undefined
  } while (cursor)
}

/** The prefix of a cursor that leads to the previous page. */
const BACK = '-'

/**
 * For a list that can be paged in both directions: the key where a page starts, and the direction in which it is read.
 */
export type From = { back: boolean; key: string | undefined }

export function readTurn(cursor: string | undefined, isKey: (key: string) => boolean): From {
  const bare = (text: string) => (text.startsWith(BACK) ? text.slice(BACK.length) : text)
  const text = readCursor(cursor, (key) => isKey(bare(key)))
  return { back: text?.startsWith(BACK) ?? false, key: text && bare(text) }
}

/**
 * A page's keys in display order, with the cursors for both directions. `found` has the keys in reading order,
 * including one key more than `limit` if there are more rows. `windowEnd` is the key at which the search stopped, if it
 * did not reach the end of the list.
 */
export function turnPage(found: string[], limit: number, { back, key }: From, windowEnd?: string) {
  const shown = found.slice(0, limit)
  const beyond = found.length > limit ? shown.at(-1) : windowEnd
  if (back) shown.reverse()
  const older = back ? shown.at(-1) : beyond
  const newer = back ? beyond : key && shown[0]
  return {
    shown,
    nextCursor: older ? writeCursor(older) : null,
    previousCursor: newer ? writeCursor(BACK + newer) : null,
  }
}

export function writeCursor(key: string): string {
  return Buffer.from(key).toString('base64url')
}

/** The key in a cursor, if it has the format of the list's keys. */
export function readCursor(cursor: string | undefined, isKey: (key: string) => boolean): string | undefined {
  if (cursor === undefined) return undefined
  const key = Buffer.from(cursor, 'base64url').toString()
  if (isKey(key)) return key
  throw invalidRequest([{ field: 'cursor', message: 'was not issued by Sluice for this list' }])
}
