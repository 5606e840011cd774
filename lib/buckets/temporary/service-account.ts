import { signJwt } from '../../platform/kernel/sign-jwt.ts'
import type { BucketDeps } from '../call-bucket.ts'
import type { Temporary } from './keep-renewed.ts'
import { parseJson, readToken, requestCredentials } from './request-credentials.ts'

/** A Google service account's key, as in the key file. */
export type ServiceAccountKey = { email: string; keyId: string; privateKey: string; tokenUrl: string }

/** What the account may do is up to its roles. This covers reading, writing and deleting objects. */
export const GOOGLE_SCOPE = 'https://www.googleapis.com/auth/devstorage.read_write'
const ASSERTION_SECONDS = 3600

/**
 * Exchanges a statement that is signed with the account's key for an access token (RFC 7523, section 2.1, as in
 * https://developers.google.com/identity/protocols/oauth2/service-account). Returns it as an Authorization header.
 */
export async function requestToken(
  key: ServiceAccountKey,
  { clock, agents }: Pick<BucketDeps, 'clock' | 'agents'>,
): Promise<Temporary<string>> {
  const { email, tokenUrl } = key
  const url = new URL(tokenUrl)
  const issuedAt = Math.floor(clock.now() / 1000)
  const claims = {
    iss: email,
    scope: GOOGLE_SCOPE,
    aud: tokenUrl,
    iat: issuedAt,
    exp: issuedAt + ASSERTION_SECONDS,
  }
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: await signJwt(claims, key),
  }
  const advice = 'Check that the service account is not disabled and still has this key.'
  const said = await requestCredentials({ url, body, addressIn: 'token_uri in the key file', advice }, agents)
  const { access_token: token, expires_in: seconds } = parseJson(said)
  return readToken(url, { token, lifetimeMs: Number(seconds) * 1000 })
}
