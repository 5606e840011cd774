import type { ReactNode } from 'react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'
import { listTurnedOff } from '#lib/identity/accounts/turned-off.ts'
import { may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../session.ts'

const TABS = [
  { href: '/dashboard/settings', title: 'Profile' },
  { href: '/dashboard/settings/sessions', title: 'Sessions' },
  { href: '/dashboard/settings/security', title: 'Security' },
  { href: '/dashboard/settings/workspace', title: 'Workspace' },
  { href: '/dashboard/settings/members', title: 'Members' },
  { href: '/dashboard/settings/keys', title: 'Account keys' },
  { href: '/dashboard/settings/outputs', title: 'Webhooks' },
  { href: '/dashboard/settings/alerts', title: 'Alerts' },
  { href: '/dashboard/settings/audit', title: 'Audit log' },
  { href: '/dashboard/settings/account', title: 'Delete account' },
]

const TURNED_OFF = { href: '/dashboard/settings/turned-off', title: 'Turned off' }
const MAILS = { href: '/dashboard/settings/mails', title: 'Emails' }

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const { workspace, actor } = await requireSession('see')
  const runtime = getRuntime()
  const turnedOff = await listTurnedOff(runtime, actor)
  const tabs = [
    ...TABS.slice(0, -1),
    ...(turnedOff.length > 0 ? [TURNED_OFF] : []),
    ...(workspace.demo && may(actor, 'own') && !runtime.config.smtpUrl ? [MAILS] : []),
    ...TABS.slice(-1),
  ]
  return (
    <>
      <PageHeader title="Settings" />
      <PageTabs label="Settings" tabs={tabs} />
      {children}
    </>
  )
}
