import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createSigner } from '#lib/buckets/s3/sign-request.ts'
import type { Clock } from '#lib/platform/kernel/clock.ts'
import { makeSas } from './azure-signatures.ts'
import { type BucketBehind, forwardsTo, passOn } from './forward.ts'
import { type Problem, problemWith } from './verify-statement.ts'

export const ROLE = 'arn:aws:iam::123456789012:role/sluice'
export const APPLICATION = {
  tenantId: '6f1d3a52-8a3e-4c1b-9d57-2f0a4b1c9e10',
  clientId: '0b7c2e94-51d8-4f6a-a3c0-7e9d1f2b8a64',
}
export const POOL_PROVIDER =
  'projects/123456789012/locations/global/workloadIdentityPools/sluice/providers/sluice'
export const SERVICE_ACCOUNT = 'sluice@acme-media.iam.gserviceaccount.com'

type Reply = { status: number; type: string; body: string }
type Issued = { endsAtMs: number; secretAccessKey?: string }

/** What each cloud says about a wrong statement. */
const WORDS: Record<'aws' | 'azure' | 'google', Record<Problem, [code: string, message: string]>> = {
  aws: {
    signature: ['InvalidIdentityToken', "Couldn't verify the signature of the token"],
    issuer: ['InvalidIdentityToken', 'No OpenIDConnect provider found in your account'],
    audience: ['InvalidIdentityToken', 'Incorrect token audience'],
    subject: ['AccessDenied', 'Not authorized to perform sts:AssumeRoleWithWebIdentity'],
    time: ['ExpiredTokenException', 'Token expired'],
  },
  azure: {
    signature: ['invalid_client', 'AADSTS5002730: Invalid JWT token signature.'],
    issuer: ['invalid_client', 'AADSTS700211: No matching federated identity record found for the issuer.'],
    audience: [
      'invalid_client',
      'AADSTS700212: No matching federated identity record found for the audience.',
    ],
    subject: ['invalid_client', 'AADSTS700213: No matching federated identity record found for the subject.'],
    time: ['invalid_client', 'AADSTS700024: Client assertion is not within its valid time range.'],
  },
  google: {
    signature: ['invalid_grant', 'The signature of the ID Token cannot be verified.'],
    issuer: ['invalid_grant', 'The issuer in ID Token does not match the expected one.'],
    audience: ['invalid_grant', 'The audience in ID Token does not match the expected audience.'],
    subject: ['unauthorized_client', 'The given credential is rejected by the attribute condition.'],
    time: ['invalid_grant', 'The ID Token is stale to sign-in.'],
  },
}

/**
 * A cloud of each kind that trusts an issuer's statements about one subject, or at AWS one for each role, and, for AWS
 * and Google, its buckets in front of a local one. Azure's are in front of a simulated storage account.
 */
export async function startTrustingCloud(
  clock: Clock,
  trust: { issuer: string; subject: string; subjects?: Record<string, string> },
  behind: { bucket: BucketBehind; azure?: string },
) {
  const cloud = {
    endpoint: '',
    trust,
    lifetimeSeconds: 3600,
    issued: new Map<string, Issued>(),
    /** Exchanges so far, and how many of one requester were open at once. */
    issuing: { requests: 0, most: 0 },
    requesterOf: (_request: IncomingMessage, _form: URLSearchParams) => 'anybody',
    onRefusal: (_request: IncomingMessage, _issued: Issued | undefined) => {},
    /** Replaces the next responses of exchanges, one each. */
    replies: [] as Reply[],
    /** How many requests to buckets had no valid credentials. */
    refused: 0,
    served: 0,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((request, response) => {
    const exchange = exchangeAt(new URL(request.url!, 'http://cloud').pathname)
    void (exchange ? answer(exchange, request, response) : serveBucket(request, response))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cloud.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  type Exchange = (text: string, request: IncomingMessage) => Promise<Reply>
  function exchangeAt(path: string): Exchange | undefined {
    if (path === '/') return assumeRole
    if (path === `/${APPLICATION.tenantId}/oauth2/v2.0/token`) return issueAzureToken
    if (path === '/v1/token') return issueGoogleToken
    return path.endsWith(':generateAccessToken') ? impersonate : undefined
  }

  const open = new Map<string, Set<ServerResponse>>()
  async function answer(exchange: Exchange, request: IncomingMessage, response: ServerResponse) {
    const { issuing } = cloud
    const chunks: Buffer[] = await request.toArray().catch(() => [])
    if (!request.complete) return
    const text = Buffer.concat(chunks).toString()
    issuing.requests += 1
    const requester = cloud.requesterOf(request, new URLSearchParams(text))
    const ownOpen = open.get(requester) ?? new Set()
    open.set(requester, ownOpen.add(response))
    issuing.most = Math.max(issuing.most, ownOpen.size)
    // Without a response if the requester was killed.
    response.once('close', () => ownOpen.delete(response))
    const { status, type, body } = cloud.replies.shift() ?? (await exchange(text, request))
    ownOpen.delete(response)
    response.writeHead(status, { 'content-type': type }).end(body)
  }

  const json = (status: number, body: object): Reply => ({
    status,
    type: 'application/json',
    body: JSON.stringify(body),
  })
  const refusal = ([error, error_description]: [string, string]) => json(400, { error, error_description })
  const issue = (token: string, secretAccessKey?: string) => {
    const endsAtMs = clock.now() + cloud.lifetimeSeconds * 1000
    cloud.issued.set(token, { endsAtMs, ...(secretAccessKey && { secretAccessKey }) })
    return new Date(endsAtMs).toISOString()
  }

  async function assumeRole(text: string): Promise<Reply> {
    const form = new URLSearchParams(text)
    const { issuer, subject, subjects = { [ROLE]: subject } } = cloud.trust
    const trusted = { issuer, subject: subjects[form.get('RoleArn')!] ?? '', audience: 'sts.amazonaws.com' }
    const problem = await problemWith(form.get('WebIdentityToken')!, trusted, clock).catch(
      () => 'communication' as const,
    )
    const xml = (status: number, body: string) => ({ status, type: 'text/xml', body })
    if (problem) {
      const [code, message] =
        problem === 'communication'
          ? ['IDPCommunicationError', "Couldn't retrieve verification key from your identity provider"]
          : WORDS.aws[problem]
      const error = `<Error><Type>Sender</Type><Code>${code}</Code><Message>${message}</Message></Error>`
      return xml(code === 'AccessDenied' ? 403 : 400, `<ErrorResponse>${error}</ErrorResponse>`)
    }
    const [token, secret] = [randomUUID(), randomUUID()]
    const expiration = issue(token, secret)
    return xml(
      200,
      `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId><SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken><Expiration>${expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    )
  }

  async function issueAzureToken(text: string): Promise<Reply> {
    const form = Object.fromEntries(new URLSearchParams(text))
    const isClient =
      form.grant_type === 'client_credentials' &&
      form.client_id === APPLICATION.clientId &&
      form.scope === 'https://storage.azure.com/.default' &&
      form.client_assertion_type === 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
    if (!isClient) return refusal(['unauthorized_client', 'AADSTS700016: Application was not found.'])
    const audience = 'api://AzureADTokenExchange'
    const problem = await problemWith(form.client_assertion!, { ...cloud.trust, audience }, clock)
    if (problem) {
      const [error, message] = WORDS.azure[problem]
      return json(401, { error, error_description: `${message} Trace ID: 1 Correlation ID: 2` })
    }
    const token = randomUUID()
    issue(token)
    return json(200, { token_type: 'Bearer', expires_in: cloud.lifetimeSeconds, access_token: token })
  }

  async function issueGoogleToken(text: string): Promise<Reply> {
    const form = Object.fromEntries(new URLSearchParams(text))
    const isAsked =
      form.grant_type === 'urn:ietf:params:oauth:grant-type:token-exchange' &&
      form.audience === `//iam.googleapis.com/${POOL_PROVIDER}` &&
      form.subject_token_type === 'urn:ietf:params:oauth:token-type:jwt'
    if (!isAsked) return refusal(['invalid_request', 'Invalid value for audience.'])
    const audience = `https://iam.googleapis.com/${POOL_PROVIDER}`
    const problem = await problemWith(form.subject_token!, { ...cloud.trust, audience }, clock)
    if (problem) return refusal(WORDS.google[problem])
    // A token for impersonation is of no use at the bucket.
    const token = form.scope === 'https://www.googleapis.com/auth/cloud-platform' ? 'federated' : randomUUID()
    if (token !== 'federated') issue(token)
    return json(200, { token_type: 'Bearer', expires_in: cloud.lifetimeSeconds, access_token: token })
  }

  async function impersonate(_: string, { url, headers }: IncomingMessage): Promise<Reply> {
    const isAllowed = headers.authorization === 'Bearer federated' && url!.includes(SERVICE_ACCOUNT)
    if (!isAllowed) {
      const message = "Permission 'iam.serviceAccounts.getAccessToken' denied"
      return json(403, { error: { code: 403, message, status: 'PERMISSION_DENIED' } })
    }
    const accessToken = randomUUID()
    return json(200, { accessToken, expireTime: issue(accessToken) })
  }

  const forward = forwardsTo(behind.bucket, clock)
  async function serveBucket(request: IncomingMessage, response: ServerResponse) {
    cloud.served += 1
    const { authorization = '', 'x-amz-security-token': session } = request.headers
    const isBearer = authorization.startsWith('Bearer ')
    const issued = cloud.issued.get(isBearer ? authorization.slice(7) : String(session))
    if (!issued || issued.endsAtMs <= clock.now() || !(isBearer || isSignedWith(issued, request, session))) {
      cloud.refused += 1
      cloud.onRefusal(request, issued)
      request.resume()
      const code = isBearer ? 'AuthenticationRequired' : 'ExpiredToken'
      return response.writeHead(isBearer ? 401 : 400).end(`<Error><Code>${code}</Code></Error>`)
    }
    if (!behind.azure || !request.headers['x-ms-version']) return forward(request, response)
    const to = new URL(request.url!, behind.azure)
    for (const [name, value] of new URLSearchParams(makeSas())) to.searchParams.set(name, value)
    const { authorization: _, ...headers } = request.headers as Record<string, string>
    passOn(request, response, { to, headers, clock })
  }

  const { region } = behind.bucket
  function isSignedWith({ secretAccessKey }: Issued, request: IncomingMessage, session: unknown): boolean {
    const headers = request.headers as Record<string, string>
    const { pathname, searchParams } = new URL(request.url!, cloud.endpoint)
    const [, names] = /SignedHeaders=([^,]+)/.exec(headers.authorization!) ?? []
    const own = ['x-amz-date', 'x-amz-content-sha256', 'x-amz-security-token']
    const signed = names!.split(';').filter((name) => !own.includes(name))
    const key = {
      accessKeyId: 'ASIAEXAMPLE',
      secretAccessKey: secretAccessKey!,
      sessionToken: String(session),
    }
    const again = createSigner(region, key)(
      {
        method: request.method!,
        path: pathname,
        query: Object.fromEntries(searchParams),
        headers: Object.fromEntries(signed.map((name) => [name, headers[name]!])),
        payloadHash: headers['x-amz-content-sha256']!,
      },
      signedAtMs(request),
    )
    return again.authorization === headers.authorization
  }
  return cloud
}

/** When a request was signed, to the second. */
export function signedAtMs({ headers }: IncomingMessage): number {
  const time = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(String(headers['x-amz-date']))
  const [year = 0, month = 0, ...rest] = time?.slice(1).map(Number) ?? []
  return Date.UTC(year, month - 1, ...rest)
}

export type TrustingCloud = Awaited<ReturnType<typeof startTrustingCloud>>
