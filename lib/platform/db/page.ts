import { z } from 'zod'
import { invalidRequest } from '../kernel/errors.ts'

/** Lists page by keyset: the cursor is where the last page ended, so a page costs the same however deep it is. */
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

/** For people, who also go back. */
export type TurnedPage<Item> = Page<Item> & { previousCursor: string | null }

export function pageAnswer<Item extends z.ZodType>(item: Item) {
  return z.strictObject({ data: z.array(item), nextCursor: z.string().nullable() })
}

/** Ask for one row more than the page holds: it says whether there is another page. */
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

/** All that fit a query, page by page. Each is read only when it is asked for. */
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

/** A cursor that begins so leads to the page before what it names. */
const BACK = '-'

/** Where a page that can be turned both ways begins, and in which direction it is read. */
export type From = { back: boolean; key: string | undefined }

export function readTurn(cursor: string | undefined, isKey: (key: string) => boolean): From {
  const bare = (text: string) => (text.startsWith(BACK) ? text.slice(BACK.length) : text)
  const text = readCursor(cursor, (key) => isKey(bare(key)))
  return { back: text?.startsWith(BACK) ?? false, key: text && bare(text) }
}

/**
 * The keys of a page as they are shown, with the cursors to both sides. `found` are those read, in the direction of
 * reading, one more than fit if there are more; `windowEnd` is where the search ended without having seen all.
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

/** The key in a cursor, if it has the form that the list's keys have. */
export function readCursor(cursor: string | undefined, isKey: (key: string) => boolean): string | undefined {
  if (cursor === undefined) return undefined
  const key = Buffer.from(cursor, 'base64url').toString()
  if (isKey(key)) return key
  throw invalidRequest([{ field: 'cursor', message: 'was not issued by Sluice for this list' }])
}
