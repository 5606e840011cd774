import type { Config } from '../../platform/settings/config.ts'

/** Who else can say who somebody is: GitHub, Google, and the OpenID Connect provider of OIDC_ISSUER. */
export type ProviderId = 'github' | 'google' | 'oidc'

/** What a provider says of somebody. */
export type ProviderProfile = {
  provider: ProviderId
  providerAccountId: string
  email: string
  /** The provider vouches that the address is theirs. */
  emailVerified: boolean
  name?: string | undefined
}

/** Those that are configured. */
export function providersOf({
  github,
  google,
  oidc,
}: Pick<Config, 'github' | 'google' | 'oidc'>): { id: ProviderId; name: string }[] {
  return [
    ...(oidc ? [{ id: 'oidc' as const, name: oidc.name }] : []),
    ...(github ? [{ id: 'github' as const, name: 'GitHub' }] : []),
    ...(google ? [{ id: 'google' as const, name: 'Google' }] : []),
  ]
}

type Given = {
  provider: ProviderId
  providerAccountId: string
  email: string | null | undefined
  name: string | null | undefined
}

/** What a provider's answer proves. GitHub alone hands out addresses without saying whether they are proven. */
export function toProviderProfile({ email, name, ...given }: Given, profile: unknown): ProviderProfile {
  const claimed = (profile as { email_verified?: unknown } | undefined)?.email_verified === true
  return {
    ...given,
    email: email ?? '',
    emailVerified: given.provider !== 'github' && claimed,
    name: name ?? undefined,
  }
}
