import { getRuntime } from '#lib/platform/runtime.ts'
import { ProviderButton } from './provider-button.tsx'

/** Those of GitHub and Google that are configured. */
export function ProviderButtons() {
  const { github, google } = getRuntime().config
  if (!github && !google) return null
  return (
    <div className="mb-6 space-y-2 border-b pb-6">
      {github && <ProviderButton provider="github" name="GitHub" />}
      {google && <ProviderButton provider="google" name="Google" />}
    </div>
  )
}
