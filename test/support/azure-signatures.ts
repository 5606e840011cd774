import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Clock } from '#lib/platform/kernel/clock.ts'
import { AzureError } from './azure-error.ts'

/** How the simulated storage account verifies that a request may do what it asks for. */

export const ACCOUNT = 'acmemedia'
export const ACCOUNT_KEY = Buffer.alloc(64, 'azure').toString('base64')
export const CONTAINER = 'uploads'
const VERSIONS = /^20(19|2\d)-\d\d-\d\d$/

/** What each operation requires; one of the letters is enough. */
const REQUIRED: Record<string, string> = {
  PutBlob: 'cw',
  PutBlock: 'w',
  PutBlockList: 'w',
  GetBlob: 'r',
  GetBlobProperties: 'r',
  ListBlobs: 'l',
  DeleteBlob: 'd',
}

type Asked = { operation: string; account: string; container: string; clock: Clock }

/** Returns the permissions of the credentials. */
export function authorize(request: IncomingMessage, url: URL, asked: Asked): string {
  const { headers } = request
  if (!VERSIONS.test(String(headers['x-ms-version']))) throw new AzureError(400, 'InvalidHeaderValue')
  if (url.searchParams.has('sig')) return permissionsOfSas(url.searchParams, asked)
  const expected = `SharedKey ${ACCOUNT}:${hmac(textToSign(request, url))}`
  const late = Math.abs(asked.clock.now() - Date.parse(String(headers['x-ms-date']))) > 15 * 60_000
  if (headers.authorization !== expected || late) throw refused()
  return 'rcwdlt'
}

/** https://learn.microsoft.com/rest/api/storageservices/create-service-sas, from version 2020-12-06. */
function permissionsOfSas(query: URLSearchParams, { operation, account, container, clock }: Asked): string {
  const of = (name: string) => query.get(name) ?? ''
  const resource = `/blob/${account}/${container}`
  const identity = [
    of('sp'),
    of('st'),
    of('se'),
    resource,
    of('si'),
    of('sip'),
    of('spr'),
    of('sv'),
    of('sr'),
  ]
  const rest = ['', of('ses'), of('rscc'), of('rscd'), of('rsce'), of('rscl'), of('rsct')]
  if (of('sig') !== hmac([...identity, ...rest].join('\n')))
    throw refused(`Signature did not match. String to sign used was ${identity.join('\n')}`)
  if (Date.parse(of('se')) <= clock.now())
    throw refused(`Signed expiry time [${of('se')}] has to be after now`)
  if (![...REQUIRED[operation]!].some((letter) => of('sp').includes(letter)))
    throw new AzureError(403, 'AuthorizationPermissionMismatch')
  return of('sp')
}

const refused = (
  detail = 'The MAC signature found in the HTTP request is not the same as any computed signature.',
) =>
  new AzureError(
    403,
    'AuthenticationFailed',
    'Server failed to authenticate the request.',
    `<AuthenticationErrorDetail>${detail}</AuthenticationErrorDetail>`,
  )

export const hmac = (text: string, key = ACCOUNT_KEY): string =>
  createHmac('sha256', Buffer.from(key, 'base64')).update(text, 'utf8').digest('base64')

/** https://learn.microsoft.com/rest/api/storageservices/authorize-with-shared-key */
function textToSign({ method, headers }: IncomingMessage, url: URL): string {
  const of = (name: string) => String(headers[name] ?? '')
  const length = of('content-length')
  const standard = [
    ...[
      method!,
      of('content-encoding'),
      of('content-language'),
      length === '0' ? '' : length,
      of('content-md5'),
    ],
    ...[of('content-type'), of('date'), of('if-modified-since'), of('if-match'), of('if-none-match')],
    ...[of('if-unmodified-since'), of('range')],
  ]
  const named = Object.keys(headers)
    .filter((name) => name.startsWith('x-ms-'))
    .sort()
  const query = [...url.searchParams.keys()].sort()
  return [
    ...standard,
    ...named.map((name) => `${name}:${of(name)}`),
    `/${ACCOUNT}${url.pathname}`,
    ...query.map((name) => `${name}:${url.searchParams.getAll(name).join(',')}`),
  ].join('\n')
}

/** A service SAS for a container. */
export function makeSas({
  permissions = 'cw',
  expiresAt = '2099-01-01T00:00:00Z',
  account = ACCOUNT,
  container = CONTAINER,
  key = ACCOUNT_KEY,
} = {}): string {
  const version = '2022-11-02'
  const text = [
    permissions,
    '',
    expiresAt,
    `/blob/${account}/${container}`,
    '',
    '',
    '',
    version,
    'c',
    '',
    '',
    '',
    '',
    '',
    '',
    '',
  ]
  const query = { sv: version, sr: 'c', sp: permissions, se: expiresAt, sig: hmac(text.join('\n'), key) }
  return new URLSearchParams(query).toString()
}
