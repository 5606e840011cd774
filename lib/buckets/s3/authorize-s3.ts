import type { BucketPlace } from '../bucket-place.ts'
import type { Authorizer, BucketDeps, OutgoingRequest } from '../call-bucket.ts'
import {
  authorizeTemporarily,
  rejectsSession,
  rejectsToken,
  type Sign,
} from '../temporary/authorize-temporarily.ts'
import {
  type AwsFederation,
  assumeFederatedRole,
  assumeRole,
  type GoogleFederation,
  requestGoogleToken,
} from '../temporary/federation.ts'
import type { Temporary } from '../temporary/keep-renewed.ts'
import { requestToken, type ServiceAccountKey } from '../temporary/service-account.ts'
import type { SessionKey } from '../temporary/sts.ts'
import { type AccessKey, createSigner, sha256, UNSIGNED_PAYLOAD } from './sign-request.ts'

export type S3Credentials =
  | AccessKey
  | ServiceAccountKey
  | { assumedRole: string }
  | { federation: AwsFederation | GoogleFederation }

/** Proves to the bucket that a request has the Data Store's credentials. */
export function authorizeS3(
  place: Pick<BucketPlace, 'endpoint' | 'region'>,
  credentials: S3Credentials,
  deps: Pick<BucketDeps, 'clock' | 'agents' | 'identity'>,
): Authorizer {
  const { clock } = deps
  const signWith = (key: AccessKey): Sign => {
    const sign = createSigner(place.region, key)
    return (request) => sign({ ...request, payloadHash: hashOf(request) }, clock.now())
  }
  if ('accessKeyId' in credentials) return { authorize: signWith(credentials) }
  const token = (request: () => Promise<Temporary<string>>) =>
    authorizeTemporarily(async () => withToken(await request()), rejectsToken, clock)
  if ('email' in credentials) return token(() => requestToken(credentials, deps))
  const session = (request: () => Promise<Temporary<SessionKey>>) =>
    authorizeTemporarily(
      async () => {
        const { value, lifetimeMs } = await request()
        return { value: signWith(value), lifetimeMs }
      },
      rejectsSession,
      clock,
    )
  if ('assumedRole' in credentials) return session(() => assumeRole(credentials.assumedRole, place, deps))
  const { federation } = credentials
  return 'role' in federation
    ? session(() => assumeFederatedRole(federation, place, deps))
    : token(() => requestGoogleToken(federation, place, deps))
}

const withToken = ({ value, lifetimeMs }: Temporary<string>): Temporary<Sign> => ({
  value: ({ headers }) => ({ ...inGoogle(headers), authorization: value }),
  lifetimeMs,
})

/**
 * With a token, Google Cloud Storage expects its own names for the headers that start with x-amz- in S3
 * (https://cloud.google.com/storage/docs/migrating).
 */
function inGoogle(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace(/^x-amz-/, 'x-goog-'), value]),
  )
}

const EMPTY_SHA256 = sha256('')

/** Signs a body only if it is small and has no separate checksum. */
function hashOf({ body, signBody }: OutgoingRequest): string {
  if (body.length === 0) return EMPTY_SHA256
  return signBody ? sha256(Buffer.concat(body)) : UNSIGNED_PAYLOAD
}
