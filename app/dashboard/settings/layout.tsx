import type { ReactNode } from 'react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../session.ts'

const TABS = [
  { href: '/dashboard/settings', title: 'Profile' },
  { href: '/dashboard/settings/sessions', title: 'Sessions' },
  { href: '/dashboard/settings/keys', title: 'Account keys' },
  { href: '/dashboard/settings/alerts', title: 'Alerts' },
  { href: '/dashboard/settings/audit', title: 'Audit log' },
  { href: '/dashboard/settings/account', title: 'Delete' },
]

const MAILS = { href: '/dashboard/settings/mails', title: 'Mails' }

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const { workspace } = await requireSession('see')
  const tabs =
    workspace.demo && !getRuntime().config.smtpUrl ? [...TABS.slice(0, -1), MAILS, ...TABS.slice(-1)] : TABS
  return (
    <>
      <PageHeader title="Settings" />
      <PageTabs label="Settings" tabs={tabs} />
      {children}
    </>
  )
}
