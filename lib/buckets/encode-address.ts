/** Returns the query as it is signed and sent: sorted by encoded name. */
export function canonicalQuery(query: Record<string, string>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .sort()
    .join('&')
}

export function encodePath(path: string): string {
  return path.split('/').map(encode).join('/')
}

/** RFC 3986: encodes everything except unreserved characters. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}
