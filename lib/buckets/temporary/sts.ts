import type { Clock } from '../../platform/kernel/clock.ts'
import { isOnInternet } from '../../platform/net/judge-connection.ts'
import { tag } from '../bucket-error.ts'
import type { AccessKey } from '../s3/sign-request.ts'
import type { Temporary } from './keep-renewed.ts'
import { withoutCredentials } from './request-credentials.ts'

/** What the operations of AWS's Security Token Service have in common. */
export const STS_VERSION = '2011-06-15'
export type SessionKey = AccessKey & { sessionToken: string }

/** Other services with roles, such as MinIO, have this API at the address of their buckets. */
export function stsOf({ endpoint, region }: { endpoint: string; region: string }): URL {
  const [, suffix] = /\.(amazonaws\.(?:com|com\.cn|eu))$/.exec(new URL(endpoint).hostname) ?? []
  return new URL(suffix ? `https://sts.${region}.${suffix}/` : `${endpoint}/`)
}

/** Requests with this server's identity only go to AWS, or to where the operator allows private addresses. */
export const mayAssumeAt = (place: { endpoint: string; region: string }): boolean =>
  stsOf(place).origin !== new URL(place.endpoint).origin || !isOnInternet(place.endpoint)

export function readSession(url: URL, xml: string, clock: Clock): Temporary<SessionKey> {
  const [accessKeyId, secretAccessKey, sessionToken, expiration] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => tag(xml, name))
  const lifetimeMs = Date.parse(expiration ?? '') - clock.now()
  if (!accessKeyId || !secretAccessKey || !sessionToken || !(lifetimeMs > 0)) throw withoutCredentials(url)
  return { value: { accessKeyId, secretAccessKey, sessionToken }, lifetimeMs }
}
