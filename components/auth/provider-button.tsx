'use client'

import { useTransition } from 'react'
import { Button } from '../ui/button.tsx'
import { notify } from '../ui/toaster.tsx'

/** By script, since the policy of our pages lets no form lead to another site. */
export function ProviderButton({ provider, name }: { provider: 'github' | 'google'; name: string }) {
  const [busy, start] = useTransition()
  const go = () =>
    start(async () => {
      const url = await addressOf(provider).catch(() => undefined)
      if (url) window.location.assign(url)
      else notify.failed(`${name} cannot be reached. Try again.`)
    })
  return (
    <Button className="w-full" size="lg" busy={busy} onClick={go}>
      Continue with {name}
    </Button>
  )
}

async function addressOf(provider: string): Promise<string> {
  const { csrfToken } = await (await fetch('/api/auth/csrf')).json()
  const body = new URLSearchParams({ csrfToken, callbackUrl: '/dashboard', json: 'true' })
  const response = await fetch(`/api/auth/signin/${provider}`, { method: 'POST', body })
  return (await response.json()).url
}
