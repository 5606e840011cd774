/** An id, or a key of an inbox, which is a secret. */
const NAME_OF_ONE = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]+_\w+|[\w-]{20,})$/i
/** The name that a plain PUT gives its file. */
const NAMED_FILE = /^(\/pipes\/[^/]+\/files\/)(?![0-9a-f]{8}-[0-9a-f-]{27}$).+/i
const MAX_CHARACTERS = 200

/** The path without what names one thing: that has fields of its own. */
export function routeOf(url: string): string {
  const path = url.split('?', 1)[0]!
  const [, before] = path.match(NAMED_FILE) ?? []
  const known = before ? `${before}:name` : path
  const parts = known.split('/').map((part) => (NAME_OF_ONE.test(part) ? ':id' : part))
  return parts.join('/').slice(0, MAX_CHARACTERS)
}
