import { PROVIDER_REFUSALS, providersOf } from '#lib/identity/accounts/providers.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ProviderButton } from './provider-button.tsx'

/** The configured providers. */
export function ProviderButtons({ next }: { next: string }) {
  const providers = providersOf(getRuntime().config)
  if (providers.length === 0) return null
  return (
    <div className="mb-6 space-y-2 border-b pb-6">
      {providers.map(({ id, name }) => (
        <ProviderButton key={id} provider={id} name={name} next={next} />
      ))}
    </div>
  )
}

/** The message for the `error` parameter that a sign-in with a provider returned. */
export function refusalText(error: string): string {
  const refusals = new Map<string, string>(Object.entries(PROVIDER_REFUSALS))
  return refusals.get(error) ?? 'Sign-in failed. Try again.'
}
