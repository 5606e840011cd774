import { sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import { BucketError, type BucketErrorKind, isPassing, shorten } from './bucket-error.ts'
import type { BucketDeps } from './call-bucket.ts'
import { type BucketResponse, exchange } from './exchange.ts'
import type { Temporary } from './keep-renewed.ts'

/** A Google service account's key, as in the key file. */
export type ServiceAccountKey = { email: string; keyId: string; privateKey: string; tokenUrl: string }

/** The code of an error that occurred before the request to the bucket was sent. */
export const NO_TOKEN = 'NoToken'

/** What the account may do is up to its roles. This covers reading, writing and deleting objects. */
const SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write'
const ASSERTION_SECONDS = 3600
const TIMEOUT_MS = 5000
const signAsync = promisify(sign)

/**
 * Exchanges a statement that is signed with the account's key for an access token (RFC 7523, section 2.1, as in
 * https://developers.google.com/identity/protocols/oauth2/service-account). Returns it as an Authorization header.
 */
export async function requestToken(
  key: ServiceAccountKey,
  { clock, agents }: Pick<BucketDeps, 'clock' | 'agents'>,
): Promise<Temporary<string>> {
  const url = new URL(key.tokenUrl)
  const grant = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await signAssertion(key, clock),
  }
  const body = Buffer.from(new URLSearchParams(grant).toString())
  const response = await exchange({
    url,
    agent: url.protocol === 'https:' ? agents.https : agents.http,
    method: 'POST',
    path: url.pathname + url.search,
    headers: {
      host: url.host,
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
    },
    body: [body],
    silenceMs: TIMEOUT_MS,
    deadlineMs: TIMEOUT_MS,
  }).catch((error) => {
    throw unreachable(url, error)
  })
  return readToken(url, response)
}

async function signAssertion({ email, keyId, privateKey, tokenUrl }: ServiceAccountKey, clock: Clock) {
  const issuedAt = Math.floor(clock.now() / 1000)
  const claims = { iss: email, scope: SCOPE, aud: tokenUrl, iat: issuedAt, exp: issuedAt + ASSERTION_SECONDS }
  const signed = [{ alg: 'RS256', typ: 'JWT', kid: keyId }, claims].map(base64url).join('.')
  const signature = await signAsync('RSA-SHA256', Buffer.from(signed), privateKey)
  return `${signed}.${signature.toString('base64url')}`
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')

function readToken(url: URL, { status, body }: BucketResponse): Temporary<string> {
  const said = parse(body.toString('utf8'))
  if (status !== 200) {
    const words = [said.error, said.error_description].filter((word) => typeof word === 'string').join(': ')
    const why = `${url.host} issued no token for the service account: ${shorten(words, 300) || `HTTP ${status}`}.`
    throw isPassing(status)
      ? failure('trouble', why)
      : failure('refused', `${why} Check that the account is not disabled and still has this key.`)
  }
  const { access_token: token, expires_in: seconds } = said
  if (typeof token !== 'string' || !/^[!-~]+$/.test(token) || !(Number(seconds) > 0))
    throw failure(
      'trouble',
      `The response of ${url.host} contains no token. Check token_uri in the key file.`,
    )
  return { value: `Bearer ${token}`, lifetimeMs: Number(seconds) * 1000 }
}

function parse(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

function unreachable(url: URL, error: unknown): BucketError {
  if (isSluiceError(error)) return failure('refused', `token_uri in the key file: ${error.message}`, error)
  const { code = 'failed' } = error as NodeJS.ErrnoException
  return failure(
    'trouble',
    `${url.host}, which issues the service account's tokens, did not respond (${code}).`,
    error,
  )
}

function failure(kind: BucketErrorKind, message: string, cause?: unknown): BucketError {
  return new BucketError(kind, NO_TOKEN, message, { cause })
}
