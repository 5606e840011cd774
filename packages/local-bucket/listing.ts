import { S3Error } from './s3-error.ts'

const MAX_ENTRIES = 1000

/** How many entries a page may have: what the query asks for, and a thousand at most. */
export function readLimit(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? String(MAX_ENTRIES)
  if (!/^\d{1,10}$/.test(text)) throw new S3Error('InvalidArgument', `${name} is not a number`)
  return Math.min(Number(text), MAX_ENTRIES)
}

/** With `encoding-type=url` keys come encoded, since XML cannot hold every character that a key can. */
export function listingEncoder(query: URLSearchParams): (text: string) => string {
  if (!query.has('encoding-type')) return (text) => text
  return (text) => encodeURIComponent(text).replaceAll('%2F', '/')
}
