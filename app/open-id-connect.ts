import type { OAuthConfig } from 'next-auth/providers/oauth'
import type { OpenIdConnect } from '#lib/platform/settings/config.ts'

type Claims = { iss: string; sub: string; email?: string; email_verified?: boolean; name?: string }

/**
 * The OIDC_ISSUER provider for next-auth, configured from the provider's discovery document. Users are identified by
 * issuer and subject, so users of a replacement provider cannot sign in to accounts created with the old one.
 */
export function openIdConnect({ issuer, name, ...client }: OpenIdConnect): OAuthConfig<Claims> {
  const base = issuer.replace(/\/$/, '')
  return {
    ...client,
    id: 'oidc',
    name,
    type: 'oauth',
    wellKnown: `${base}/.well-known/openid-configuration`,
    authorization: { params: { scope: 'openid email profile' } },
    idToken: true,
    checks: ['pkce', 'state', 'nonce'],
    userinfo: {
      async request({ client, tokens }) {
        const claims = (tokens as { claims(): Claims }).claims()
        if (claims.iss.replace(/\/$/, '') !== base)
          throw new Error(`The provider's issuer is ${claims.iss}, but OIDC_ISSUER is set to ${issuer}.`)
        // Many providers return the email address only from the userinfo endpoint. The library checks that the subject
        // matches.
        if (claims.email !== undefined || !client.issuer.metadata.userinfo_endpoint) return claims
        return { ...(await client.userinfo<Claims>(tokens as never)), iss: claims.iss }
      },
    },
    profile: ({ iss, sub, email, name }) => ({
      id: `${iss} ${sub}`,
      email: email ?? null,
      name: name ?? null,
    }),
  }
}
