import { isSluiceError } from '../../platform/kernel/errors.ts'
import { BucketError, type BucketErrorKind, isPassing, shorten, tag } from '../bucket-error.ts'
import type { BucketDeps } from '../call-bucket.ts'
import { exchange } from '../exchange.ts'

/** The code of an error that occurred before the request to the bucket was sent. */
export const NO_TOKEN = 'NoToken'

const TIMEOUT_MS = 5000

type Asked = {
  url: URL
  /** A form, or JSON. */
  body: Record<string, string> | { json: object }
  headers?: Record<string, string>
  /** Where the address comes from, if the customer entered it. */
  addressIn?: string
  /** What to check if the request is refused. */
  advice: string
}

/** Asks for temporary credentials, and returns the body of the response. Failures quote the words of the response. */
export async function requestCredentials(asked: Asked, agents: BucketDeps['agents']): Promise<string> {
  const { url, advice } = asked
  const [type, text] = encode(asked.body)
  const body = Buffer.from(text)
  const { status, body: said } = await exchange({
    url,
    agent: url.protocol === 'https:' ? agents.https : agents.http,
    method: 'POST',
    path: url.pathname + url.search,
    headers: {
      host: url.host,
      'content-type': type,
      'content-length': String(body.length),
      ...asked.headers,
    },
    body: [body],
    silenceMs: TIMEOUT_MS,
    deadlineMs: TIMEOUT_MS,
  }).catch((error) => {
    throw unreachable(asked, error)
  })
  if (status === 200) return said.toString('utf8')
  const words = wordsOf(said.toString('utf8'))
  const why = `${url.host} issued no credentials: ${shorten(words, 300) || `HTTP ${status}`}.`
  throw isPassing(status) || PASSING_WORDS.test(words)
    ? failure('trouble', why)
    : failure('refused', `${why.replace(/\.+$/, '.')} ${advice}`)
}

/** AWS reports these with the status of a refusal. */
const PASSING_WORDS = /^(IDPCommunicationError|Throttling)/

export const formOf = (form: Record<string, string>): string => new URLSearchParams(form).toString()

function encode(body: Asked['body']): [type: string, text: string] {
  return 'json' in body && typeof body.json === 'object'
    ? ['application/json', JSON.stringify(body.json)]
    : ['application/x-www-form-urlencoded', formOf(body as Record<string, string>)]
}

/** The error in a response: of OAuth, of a Google API, or of AWS. Azure adds the request's id and time. */
function wordsOf(text: string): string {
  const { error, error_description } = parseJson(text)
  const { status, message } = Object(error) as Record<string, unknown>
  const words = [error, error_description, status, message, tag(text, 'Code'), tag(text, 'Message')]
  const said = words.filter((word) => typeof word === 'string').join(': ')
  return said.split(/\s*Trace ID:/)[0]!
}

export function parseJson(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

/** Reads an OAuth access token as a header. `lifetimeMs` is NaN if the response does not contain it. */
export function readToken(
  url: URL,
  { token, lifetimeMs }: { token: unknown; lifetimeMs: number },
): { value: string; lifetimeMs: number } {
  if (typeof token === 'string' && /^[!-~]+$/.test(token) && lifetimeMs > 0)
    return { value: `Bearer ${token}`, lifetimeMs }
  throw withoutCredentials(url)
}

export const withoutCredentials = (url: URL): BucketError =>
  failure('trouble', `The response of ${url.host} contains no credentials. Is there a proxy in between?`)

function unreachable({ url, addressIn }: Asked, error: unknown): BucketError {
  if (isSluiceError(error))
    return failure('refused', `${addressIn ? `${addressIn}: ` : ''}${error.message}`, error)
  const { code = 'failed' } = error as NodeJS.ErrnoException
  return failure('trouble', `${url.host}, which issues the credentials, did not respond (${code}).`, error)
}

export function failure(kind: BucketErrorKind, message: string, cause?: unknown): BucketError {
  return new BucketError(kind, NO_TOKEN, message, { cause })
}
