import type { BucketDeps } from '../call-bucket.ts'
import { createSigner, sha256 } from '../s3/sign-request.ts'
import type { Temporary } from './keep-renewed.ts'
import { failure, formOf, parseJson, readToken, requestCredentials } from './request-credentials.ts'
import type { ServerKeys } from './server-identity.ts'
import { GOOGLE_SCOPE } from './service-account.ts'
import { mayAssumeAt, readSession, STS_VERSION, stsOf } from './sts.ts'

/**
 * A Data Store without a secret: a short statement by Sluice about the Data Store is exchanged for temporary
 * credentials, by a cloud that trusts such statements.
 */
export type AwsFederation = { role: string }
export type AzureFederation = { tenantId: string; clientId: string }
export type GoogleFederation = { identityProvider: string; serviceAccount?: string | undefined }
export type Federation = AwsFederation | AzureFederation | GoogleFederation

/** How a Data Store proves who it is. */
export type Identity = {
  /** Its name: the subject of statements, and the external ID of roles. */
  subject: string
  issueStatement(audience: string): Promise<string>
  /** Obtains this server's own keys at AWS. Undefined if Data Stores may not use them. */
  serverKeys?: (() => Promise<ServerKeys>) | undefined
}

type Place = { endpoint: string; region: string }
type Deps = Pick<BucketDeps, 'clock' | 'agents' | 'identity'>

export const AWS_AUDIENCE = 'sts.amazonaws.com'
export const AZURE_AUDIENCE = 'api://AzureADTokenExchange'
const ADVICE = 'Check that this cloud trusts the issuer, subject and audience that the Data Store shows.'

const statementFor = ({ identity }: Deps, audience: string): Promise<string> => {
  if (!identity) throw failure('refused', 'A Data Store can only use federation once it is saved.')
  return identity.issueStatement(audience)
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html */
export async function assumeFederatedRole({ role }: AwsFederation, place: Place, deps: Deps) {
  const statement = await statementFor(deps, AWS_AUDIENCE)
  const url = stsOf(place)
  const body = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: STS_VERSION,
    RoleArn: role,
    RoleSessionName: 'sluice',
    WebIdentityToken: statement,
  }
  return readSession(url, await requestCredentials({ url, body, advice: ADVICE }, deps.agents), deps.clock)
}

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
export async function assumeRole(role: string, place: Place, { identity, clock, agents }: Deps) {
  if (!identity?.serverKeys)
    throw failure('refused', 'The operator does not allow roles that trust this server.')
  const url = stsOf(place)
  if (!mayAssumeAt(place)) throw failure('refused', `Roles that trust this server are only possible at AWS.`)
  const body = {
    Action: 'AssumeRole',
    Version: STS_VERSION,
    RoleArn: role,
    RoleSessionName: 'sluice',
    ExternalId: identity.subject,
  }
  const sign = createSigner(place.region, await identity.serverKeys(), 'sts')
  const unsigned = { method: 'POST', path: url.pathname, query: {}, headers: { host: url.host } }
  const headers = sign({ ...unsigned, payloadHash: sha256(formOf(body)) }, clock.now())
  const advice =
    'Check that the role trusts this server, and requires the external ID that the Data Store shows.'
  return readSession(url, await requestCredentials({ url, body, headers, advice }, agents), clock)
}

/** https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow, third case */
export async function requestAzureToken(
  { tenantId, clientId }: AzureFederation,
  place: Pick<Place, 'endpoint'>,
  deps: Deps,
): Promise<Temporary<string>> {
  const url = new URL(`${authorityOf(place)}/${tenantId}/oauth2/v2.0/token`)
  const body = {
    grant_type: 'client_credentials',
    client_id: clientId,
    scope: 'https://storage.azure.com/.default',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await statementFor(deps, AZURE_AUDIENCE),
  }
  const said = await requestCredentials({ url, body, advice: ADVICE }, deps.agents)
  const { access_token: token, expires_in: seconds } = parseJson(said)
  return readToken(url, { token, lifetimeMs: Number(seconds) * 1000 })
}

/** https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token */
export async function requestGoogleToken(
  { identityProvider, serviceAccount }: GoogleFederation,
  place: Pick<Place, 'endpoint'>,
  deps: Deps,
): Promise<Temporary<string>> {
  const url = new URL('/v1/token', googleOf(place, 'sts'))
  const body = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience: `//iam.googleapis.com/${identityProvider}`,
    // An account can only be impersonated with this scope. What the token may do is up to roles.
    scope: serviceAccount ? 'https://www.googleapis.com/auth/cloud-platform' : GOOGLE_SCOPE,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    subject_token: await statementFor(deps, `https://iam.googleapis.com/${identityProvider}`),
  }
  const said = await requestCredentials({ url, body, advice: ADVICE }, deps.agents)
  const { access_token: token, expires_in: seconds } = parseJson(said)
  const own = readToken(url, { token, lifetimeMs: Number(seconds) * 1000 })
  return serviceAccount ? impersonate(serviceAccount, own.value, place, deps) : own
}

/** https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken */
async function impersonate(
  email: string,
  authorization: string,
  place: Pick<Place, 'endpoint'>,
  { clock, agents }: Deps,
): Promise<Temporary<string>> {
  const path = `/v1/projects/-/serviceAccounts/${email}:generateAccessToken`
  const url = new URL(path, googleOf(place, 'iamcredentials'))
  const body = { json: { scope: [GOOGLE_SCOPE] } }
  const advice = 'Check that the identity has the role Workload Identity User on the service account.'
  const said = await requestCredentials({ url, body, headers: { authorization }, advice }, agents)
  const { accessToken: token, expireTime } = parseJson(said)
  return readToken(url, { token, lifetimeMs: Date.parse(String(expireTime)) - clock.now() })
}

/** Emulators have the account's name in the path, and are their own authority. */
function authorityOf({ endpoint }: Pick<Place, 'endpoint'>): string {
  const { origin, hostname, pathname } = new URL(endpoint)
  if (pathname !== '/') return origin
  if (hostname.endsWith('.usgovcloudapi.net')) return 'https://login.microsoftonline.us'
  if (hostname.endsWith('.chinacloudapi.cn')) return 'https://login.chinacloudapi.cn'
  return 'https://login.microsoftonline.com'
}

/** An emulator has every service at one address. */
function googleOf({ endpoint }: Pick<Place, 'endpoint'>, service: string): string {
  const { origin, hostname } = new URL(endpoint)
  return hostname.endsWith('.googleapis.com') ? `https://${service}.googleapis.com` : origin
}
