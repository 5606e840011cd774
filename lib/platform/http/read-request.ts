import { SluiceError } from '../kernel/errors.ts'

/** The parts of a `Request` needed to read its headers and body. */
export type IncomingBody = {
  headers: { get(name: string): string | null }
  body: AsyncIterable<Uint8Array> | null
}

/** Reads a request's body, whose length the front door limits. */
export async function readBytes({ body }: IncomingBody): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body ?? []) chunks.push(chunk)
  } catch (error) {
    throw new SluiceError('invalid_request', 'The body ended too early.', { cause: error })
  }
  return Buffer.concat(chunks)
}

/** The token of an `Authorization: Bearer …` header (RFC 6750, 2.1), or undefined. */
export function bearerToken(header: string | null | undefined): string | undefined {
  return header?.match(/^Bearer +([A-Za-z0-9\-._~+/]+=*) *$/i)?.[1]
}

/** A path segment that is an id, or an inbox key, which is a secret. */
const NAME_OF_ONE = /^(?:[0-9a-f]{8}-[0-9a-f-]{27}|[a-z]+_\w+|[\w-]{20,})$/i
/** The path of a plain PUT, which ends with the name of the file. */
const NAMED_FILE = /^(\/pipes\/[^/]+\/files\/)(?![0-9a-f]{8}-[0-9a-f-]{27}$).+/i
/** An upload link's code is a secret, even if an email program has appended something to it. */
const OF_LINK = /^\/u\/.*/
const MAX_CHARACTERS = 200

/** The path with placeholders for the segments that identify a single item, which have their own log fields. */
export function routeOf(url: string): string {
  const path = url.split('?', 1)[0]!
  const [, before] = path.match(NAMED_FILE) ?? []
  const known = before ? `${before}:name` : path.replace(OF_LINK, '/u/:code')
  const parts = known.split('/').map((part) => (NAME_OF_ONE.test(part) ? ':id' : part))
  return parts.join('/').slice(0, MAX_CHARACTERS)
}
