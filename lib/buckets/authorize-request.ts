import type { BucketDeps } from './call-bucket.ts'
import { keepRenewed } from './keep-renewed.ts'
import { requestToken, type ServiceAccountKey } from './service-account.ts'
import { type AccessKey, createSigner, type Unsigned } from './sign-request.ts'

export type Credentials = AccessKey | ServiceAccountKey

export type Authorizer = {
  /** Returns the headers to send. */
  authorize(request: Unsigned): Record<string, string> | Promise<Record<string, string>>
  /** For temporary credentials: obtains others for the next request, because the bucket rejected those in `headers`. */
  replace?(headers: Record<string, string>): void
}

/** Proves to the bucket that a request has the Data Store's credentials. */
export function createAuthorizer(
  region: string,
  credentials: Credentials,
  deps: Pick<BucketDeps, 'clock' | 'agents'>,
): Authorizer {
  const { clock } = deps
  if ('accessKeyId' in credentials) {
    const sign = createSigner(region, credentials)
    return { authorize: (request) => sign(request, clock.now()) }
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
