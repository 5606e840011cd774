import { PROVIDER_REFUSALS, providersOf } from '#lib/identity/accounts/providers.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { ProviderButton } from './provider-button.tsx'

/** Those that are configured. */
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

/** What is said of the `error` that somebody comes back from a provider with. */
export function refusalText(error: string): string {
  const refusals = new Map<string, string>(Object.entries(PROVIDER_REFUSALS))
  return refusals.get(error) ?? 'Signing in did not work. Try again.'
}
