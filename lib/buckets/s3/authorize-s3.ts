import type { Authorizer, BucketDeps, OutgoingRequest } from '../call-bucket.ts'
import { keepRenewed } from '../keep-renewed.ts'
import { requestToken, type ServiceAccountKey } from '../service-account.ts'
import { type AccessKey, createSigner, sha256, UNSIGNED_PAYLOAD } from './sign-request.ts'

export type S3Credentials = AccessKey | ServiceAccountKey

/** Proves to the bucket that a request has the Data Store's credentials. */
export function authorizeS3(
  region: string,
  credentials: S3Credentials,
  deps: Pick<BucketDeps, 'clock' | 'agents'>,
): Authorizer {
  const { clock } = deps
  if ('accessKeyId' in credentials) {
    const sign = createSigner(region, credentials)
    return { authorize: (request) => sign({ ...request, payloadHash: hashOf(request) }, clock.now()) }
  }
  const tokens = keepRenewed(() => requestToken(credentials, deps), clock)
  return {
    authorize: async ({ headers }) => ({ ...inGoogle(headers), authorization: await tokens.current() }),
    replace: ({ authorization }) => tokens.drop(authorization!),
  }
}

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
