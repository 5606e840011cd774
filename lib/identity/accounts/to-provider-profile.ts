import type { ProviderProfile } from './sign-in-with-provider.ts'

type Given = {
  provider: ProviderProfile['provider']
  providerAccountId: string
  email: string | null | undefined
  name: string | null | undefined
}

/** What a provider's answer proves. Google says whether an address is proven; GitHub hands out addresses that are not. */
export function toProviderProfile({ email, name, ...given }: Given, profile: unknown): ProviderProfile {
  const claimed = (profile as { email_verified?: unknown } | undefined)?.email_verified === true
  return {
    ...given,
    email: email ?? '',
    emailVerified: given.provider === 'google' && claimed,
    name: name ?? undefined,
  }
}
