import { createHmac, createSecretKey } from 'node:crypto'
import type { BucketPlace } from '../bucket-place.ts'
import type { Authorizer, BucketDeps, OutgoingRequest } from '../call-bucket.ts'
import { authorizeTemporarily, rejectsToken, type Sign } from '../temporary/authorize-temporarily.ts'
import { type AzureFederation, requestAzureToken } from '../temporary/federation.ts'

/** A storage account's key in base64, or a shared access signature (SAS), which is a query without its question mark. */
export type AzureCredentials =
  | { storageAccountKey: string }
  | { sasToken: string }
  | { federation: AzureFederation }

/** The first version with all features that Sluice uses; names of blobs that XML cannot contain are encoded in lists. */
const VERSION = '2021-12-02'

export function authorizeAzure(
  place: Pick<BucketPlace, 'endpoint'>,
  credentials: AzureCredentials,
  deps: Pick<BucketDeps, 'clock' | 'agents' | 'identity'>,
): Authorizer {
  const { clock } = deps
  const dated = (headers: Record<string, string>) => ({
    ...headers,
    'x-ms-date': new Date(clock.now()).toUTCString(),
    'x-ms-version': VERSION,
  })
  if ('sasToken' in credentials)
    return {
      query: Object.fromEntries(new URLSearchParams(credentials.sasToken)),
      authorize: ({ headers }) => dated(headers),
    }
  if ('federation' in credentials) {
    const obtain = async () => {
      const { value, lifetimeMs } = await requestAzureToken(credentials.federation, place, deps)
      const sign: Sign = ({ headers }) => ({ ...dated(headers), authorization: value })
      return { value: sign, lifetimeMs }
    }
    return authorizeTemporarily(obtain, rejectsToken, clock)
  }
  const account = accountOf(place.endpoint)
  const key = createSecretKey(credentials.storageAccountKey, 'base64')
  return {
    authorize(request) {
      const headers = dated(request.headers)
      const signature = createHmac('sha256', key).update(textToSign(account, { ...request, headers }))
      return { ...headers, authorization: `SharedKey ${account}:${signature.digest('base64')}` }
    },
  }
}

/**
 * The account's name is the first label of its host. Where the host is an IP address or a local name, as for the Azurite
 * emulator, it is the path.
 */
export function accountOf(endpoint: string): string {
  const { hostname, pathname } = new URL(endpoint)
  return pathname.slice(1) || hostname.split('.')[0]!
}

/** These headers are signed by position, and those that start with x-ms- by name. */
const SIGNED_HEADERS = [
  ...['content-encoding', 'content-language', 'content-length', 'content-md5', 'content-type', 'date'],
  ...['if-modified-since', 'if-match', 'if-none-match', 'if-unmodified-since', 'range'],
]

/** https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key */
function textToSign(
  account: string,
  { method, path, query, headers }: Pick<OutgoingRequest, 'method' | 'path' | 'query' | 'headers'>,
): string {
  const named = Object.keys(headers).filter((name) => name.startsWith('x-ms-'))
  return [
    method,
    // A length of zero is signed as an empty string.
    ...SIGNED_HEADERS.map((name) => (headers[name] === '0' ? '' : (headers[name] ?? ''))),
    ...named.sort().map((name) => `${name}:${headers[name]!.trim()}`),
    `/${account}${path}`,
    ...Object.keys(query)
      .sort()
      .map((name) => `${name}:${query[name]}`),
  ].join('\n')
}
