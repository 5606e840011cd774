'use client'

import { goToProvider } from '#app/(auth)/provider-button.tsx'
import { Button } from '#components/ui/button.tsx'
import { PasswordField } from '#components/ui/field.tsx'
import { FormDialog } from '#components/ui/form-dialog.tsx'
import { notify } from '#components/ui/toaster.tsx'
import type { ConnectedProvider } from '#lib/identity/accounts/providers.ts'
import { connect, disconnect } from './actions.ts'

type Props = { providers: ConnectedProvider[]; hasPassword: boolean }

/** Other ways to sign in. */
export function ProviderList({ providers, hasPassword }: Props) {
  return (
    <ul className="divide-y border-t">
      {providers.map((provider) => (
        <li key={provider.id} className="flex flex-wrap items-center gap-3 px-4 py-2.5">
          <div className="min-w-0 flex-1">
            <p className="truncate font-medium text-sm">{provider.name}</p>
            <p className="text-ink-faint text-xs">{stateOf(provider)}</p>
          </div>
          {(provider.connected || provider.connectable) && (
            <ChangeProvider provider={provider} hasPassword={hasPassword} />
          )}
        </li>
      ))}
    </ul>
  )
}

function stateOf({ connected, connectable }: ConnectedProvider): string {
  if (connected) return 'Connected. You can sign in with it.'
  return connectable
    ? 'Not connected.'
    : 'This provider does not verify email addresses, so it can only be connected to new accounts.'
}

function ChangeProvider({ provider, hasPassword }: { provider: ConnectedProvider; hasPassword: boolean }) {
  const { id, name, connected } = provider
  const verb = connected ? 'Disconnect' : 'Connect'
  async function done() {
    if (connected) return
    if (!(await goToProvider(id, '/dashboard/settings/security')))
      notify.failed(`${name} cannot be reached. Try again.`)
  }
  return (
    <FormDialog
      title={`${verb} ${name}`}
      description={
        connected
          ? `${name} no longer signs you in to this account.`
          : `${name} will then sign you in to this account. Its email address must match this account's.`
      }
      trigger={
        <Button tone={connected ? 'quiet' : 'plain'} size="sm" aria-label={`${verb} ${name}`}>
          {verb}
        </Button>
      }
      action={(connected ? disconnect : connect).bind(null, id)}
      submit={connected ? 'Disconnect' : `Continue to ${name}`}
      submitTone={connected ? 'danger' : 'primary'}
      onDone={done}
    >
      {hasPassword ? (
        <PasswordField />
      ) : (
        <p className="text-ink-soft text-sm">You must have signed in within the last 10 minutes.</p>
      )}
    </FormDialog>
  )
}
