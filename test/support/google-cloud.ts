import { createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '#lib/platform/kernel/clock.ts'
import { type BucketBehind, forwardsTo } from './forward.ts'

type Claims = { iss: string; aud: string; scope: string; iat: number; exp: number }
type Grant = { account: string; endsAtMs: number }

const SKEW_SECONDS = 300

/** A service account's key file, as Google Cloud creates it. */
export function makeKeyFile() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  })
  const file = {
    type: 'service_account',
    project_id: 'acme-media',
    private_key_id: 'key-1',
    private_key: privateKey,
    client_email: 'sluice@acme-media.iam.gserviceaccount.com',
    token_uri: 'https://oauth2.googleapis.com/token',
  }
  return { file, publicKey }
}

/**
 * Google Cloud Storage as a service account sees it: a token endpoint that verifies what Google documents for signed
 * statements, and, in front of a local bucket, an XML API that accepts only valid tokens and Google's header names.
 */
export async function startGoogleCloud(clock: Clock, bucket: BucketBehind) {
  const { file, publicKey } = makeKeyFile()
  const account = file.client_email
  const cloud = {
    endpoint: '',
    keyFile: '',
    keys: new Map([['key-1', { account, publicKey }]]),
    grants: new Map<string, Grant>(),
    lifetimeSeconds: 3600,
    /** Token requests so far, and how many of them were open at once. */
    issuing: { requests: 0, open: 0, most: 0 },
    /** Replaces the next responses of the token endpoint, one each. */
    responses: [] as { status: number; body: string }[],
    /** How many requests to the bucket had no valid token. */
    refused: 0,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  const server = createServer((request, response) =>
    request.url!.startsWith('/token') ? void issue(request, response) : forward(request, response),
  ).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cloud.endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const tokenUrl = `${cloud.endpoint}/token`
  cloud.keyFile = JSON.stringify({ ...file, token_uri: tokenUrl })

  async function issue(request: IncomingMessage, response: ServerResponse) {
    const { issuing } = cloud
    issuing.requests += 1
    issuing.open += 1
    issuing.most = Math.max(issuing.most, issuing.open)
    const form = new URLSearchParams(Buffer.concat(await request.toArray()).toString())
    const { status, body } = cloud.responses.shift() ?? grant(form)
    issuing.open -= 1
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }

  function grant(form: URLSearchParams) {
    const problem = problemOf(form)
    if (problem) {
      const [error, error_description] = problem
      return { status: 400, body: JSON.stringify({ error, error_description }) }
    }
    const token = `ya29.${randomUUID()}`
    cloud.grants.set(token, { account, endsAtMs: clock.now() + cloud.lifetimeSeconds * 1000 })
    const body = { access_token: token, expires_in: cloud.lifetimeSeconds, token_type: 'Bearer' }
    return { status: 200, body: JSON.stringify(body) }
  }

  function problemOf(form: URLSearchParams): [string, string] | undefined {
    if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer')
      return ['unsupported_grant_type', 'Invalid grant_type']
    const [header, payload, signature] = form.get('assertion')!.split('.') as [string, string, string]
    const { alg, kid } = read<{ alg: string; kid: string }>(header)
    const { iss, aud, scope, iat, exp } = read<Claims>(payload)
    const key = cloud.keys.get(kid)
    if (alg !== 'RS256' || key?.account !== iss) return ['invalid_grant', 'Invalid grant: account not found']
    const signed = Buffer.from(`${header}.${payload}`)
    if (!verify('RSA-SHA256', signed, createPublicKey(key.publicKey), Buffer.from(signature, 'base64url')))
      return ['invalid_grant', 'Invalid JWT Signature.']
    if (aud !== tokenUrl) return ['invalid_grant', 'Invalid JWT: Failed audience check.']
    const now = clock.now() / 1000
    if (!(Math.abs(now - iat) < SKEW_SECONDS && exp > now && exp - iat <= 3600))
      return ['invalid_grant', 'Invalid JWT: Token must be a short-lived token (60 minutes)']
    if (!/^https:\/\/www\.googleapis\.com\/auth\/devstorage\.read_write$/.test(scope))
      return ['invalid_scope', 'Invalid OAuth scope or ID token audience provided.']
    return undefined
  }

  const forwardToBucket = forwardsTo(bucket, clock)
  function forward(request: IncomingMessage, response: ServerResponse) {
    const authorization = request.headers.authorization ?? ''
    const held = cloud.grants.get(authorization.replace(/^Bearer /, ''))
    if (!held || held.endsAtMs <= clock.now()) {
      cloud.refused += 1
      return refuse(request, response, 401, 'AuthenticationRequired')
    }
    if (Object.keys(request.headers).some((name) => name.startsWith('x-amz-')))
      return refuse(request, response, 400, 'InvalidArgument')
    forwardToBucket(request, response)
  }
  return cloud
}

export type GoogleCloud = Awaited<ReturnType<typeof startGoogleCloud>>

const read = <Value>(text: string): Value => JSON.parse(Buffer.from(text, 'base64url').toString())

function refuse(request: IncomingMessage, response: ServerResponse, status: number, code: string) {
  request.resume()
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>Refused.</Message></Error>`)
}
