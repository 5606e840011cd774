import { randomUUID } from 'node:crypto'
import { signJwt } from '../../platform/kernel/sign-jwt.ts'
import type { Config } from '../../platform/settings/config.ts'
import { type IssuerRuntime, readSigningKeys, signingKeyPlace } from './signing-keys.ts'

/**
 * Sluice as an OpenID Connect issuer: short statements about a Data Store, which a cloud that trusts this server
 * exchanges for temporary credentials. They say nothing about people, and no endpoint of Sluice accepts them.
 */
const LIFETIME_SECONDS = 300
/** For clouds whose clock is behind this server's. */
const BACKDATED_SECONDS = 60

/** Names a Data Store to clouds. Google allows 127 bytes. */
export const subjectOf = ({ workspaceId, id }: { workspaceId: string; id: string }): string =>
  `workspace:${workspaceId}:data-store:${id}`

export async function issueStatement(
  runtime: IssuerRuntime & { config: Pick<Config, 'baseUrl'> },
  { subject, audience }: { subject: string; audience: string },
): Promise<string> {
  const { signing } = await readSigningKeys(runtime)
  const nowSeconds = Math.floor(runtime.clock.now() / 1000)
  const claims = {
    iss: runtime.config.baseUrl,
    sub: subject,
    aud: audience,
    iat: nowSeconds - BACKDATED_SECONDS,
    exp: nowSeconds + LIFETIME_SECONDS,
    jti: randomUUID(),
  }
  const privateKey = runtime.vault.open(signing.sealed, signingKeyPlace(String(signing.id)))
  return signJwt(claims, { keyId: signing.publicKey.kid!, privateKey })
}

/** The discovery document (OpenID Connect Discovery 1.0, section 3), without the endpoints for people. */
export const discoveryDocument = (issuer: string) => ({
  issuer,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  response_types_supported: ['id_token'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
  scopes_supported: ['openid'],
  claims_supported: ['iss', 'sub', 'aud', 'iat', 'exp', 'jti'],
})

export async function publishedKeys(runtime: IssuerRuntime): Promise<{ keys: Record<string, string>[] }> {
  const { published } = await readSigningKeys(runtime)
  return { keys: published.map(({ publicKey }) => publicKey) }
}
