import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

/** A real OpenID Connect provider that signs in a preselected user without showing a page. */
export type OpenIdProvider = {
  issuer: string
  client: { id: string; secret: string }
  /** The user whom the provider signs in; a test may change it. */
  person: { sub: string; email: string; email_verified: boolean; name: string }
  close(): void
}

type Options = { redirectUri: string }

export async function startOpenIdProvider({ redirectUri }: Options): Promise<OpenIdProvider> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = { id: 'sluice', secret: 'a secret that the two of them share' }
  const person = { sub: '1', email: 'nobody@example.com', email_verified: false, name: 'Nobody' }
  const self: OpenIdProvider = { issuer, client, person, close: () => void server.close() }
  const provider = new Provider(issuer, configure(self, redirectUri))
  const serve = provider.callback()
  const answer = (request: IncomingMessage, response: ServerResponse) =>
    request.url!.startsWith('/interaction/')
      ? enter(provider, self, request, response)
      : serve(request, response)
  server.on('request', (request, response) => void answer(request, response))
  return self
}

function configure(self: OpenIdProvider, redirectUri: string): object {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    clients: [
      {
        client_id: self.client.id,
        client_secret: self.client.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ ...self.person, sub }),
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 600,
      Grant: 600,
      IdToken: 600,
      Interaction: 600,
      Session: 600,
    },
    cookies: { keys: ['a key of the provider for its cookies'] },
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), kid: 'only', use: 'sig', alg: 'RS256' }] },
  }
}

/** Signs in the chosen user and grants every consent. */
async function enter(
  provider: InstanceType<typeof Provider>,
  { person }: OpenIdProvider,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const { params } = await provider.interactionDetails(request, response)
  const grant = new provider.Grant({ accountId: person.sub, clientId: String(params.client_id) })
  grant.addOIDCScope(String(params.scope))
  const result = { login: { accountId: person.sub }, consent: { grantId: await grant.save() } }
  await provider.interactionFinished(request, response, result)
}
