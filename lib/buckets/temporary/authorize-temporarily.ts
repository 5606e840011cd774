import type { Clock } from '../../platform/kernel/clock.ts'
import type { Authorizer, OutgoingRequest } from '../call-bucket.ts'
import type { BucketResponse } from '../exchange.ts'
import { keepRenewed, type Temporary } from './keep-renewed.ts'

/** Returns the headers of a request with the credentials that it was made from. */
export type Sign = (request: OutgoingRequest) => Record<string, string>

/** Authorizes requests with temporary credentials, which are shared, renewed, and replaced if the bucket rejects them. */
export function authorizeTemporarily(
  obtain: () => Promise<Temporary<Sign>>,
  rejects: (response: BucketResponse) => boolean,
  clock: Clock,
): Authorizer {
  const held = keepRenewed(obtain, clock)
  const signedBy = new WeakMap<object, Sign>()
  return {
    async authorize(request) {
      const sign = await held.current()
      const headers = sign(request)
      signedBy.set(headers, sign)
      return headers
    },
    replace(headers, response) {
      if (!rejects(response)) return false
      held.drop(signedBy.get(headers)!)
      return true
    },
  }
}

export const rejectsToken = ({ status }: BucketResponse): boolean => status === 401

/** The codes for sessions that have ended or were revoked; the last is MinIO's. The response to HEAD has none. */
export const rejectsSession = ({ status, body }: BucketResponse): boolean =>
  (status === 400 || status === 403) &&
  /<Code>(ExpiredToken|InvalidToken|InvalidTokenId|TokenRefreshRequired|InvalidAccessKeyId)<\/Code>/.test(
    body.toString('utf8'),
  )
