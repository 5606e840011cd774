'use client'

import { useTransition } from 'react'
import { Button } from '#components/ui/button.tsx'
import { notify } from '#components/ui/toaster.tsx'
import type { ProviderId } from '#lib/identity/accounts/providers.ts'
import { keepLink } from './with-link.tsx'

type Props = { provider: ProviderId; name: string; next: string }

export function ProviderButton({ provider, name, next }: Props) {
  const [busy, start] = useTransition()
  const go = () =>
    start(async () => {
      keepLink()
      if (!(await goToProvider(provider, next))) notify.failed(`${name} cannot be reached. Try again.`)
    })
  return (
    <Button className="w-full" size="lg" busy={busy} onClick={go}>
      Continue with {name}
    </Button>
  )
}

/**
 * Uses a script, because our content security policy forbids forms that lead to another site. Returns false if the
 * provider cannot be reached.
 */
export async function goToProvider(provider: ProviderId, next: string): Promise<boolean> {
  try {
    const { csrfToken } = await (await fetch('/api/auth/csrf')).json()
    const body = new URLSearchParams({ csrfToken, callbackUrl: next, json: 'true' })
    const response = await fetch(`/api/auth/signin/${provider}`, { method: 'POST', body })
    const { url } = await response.json()
    // On an error, the returned address is one of our own pages.
    if (new URL(url).origin === window.location.origin) return false
    window.location.assign(url)
    return true
  } catch {
    return false
  }
}
