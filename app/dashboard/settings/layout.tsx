import type { ReactNode } from 'react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'

const TABS = [
  { href: '/dashboard/settings', title: 'Profile' },
  { href: '/dashboard/settings/sessions', title: 'Sessions' },
  { href: '/dashboard/settings/keys', title: 'Account keys' },
  { href: '/dashboard/settings/audit', title: 'Audit log' },
  { href: '/dashboard/settings/account', title: 'Delete' },
]

export default function SettingsLayout({ children }: { children: ReactNode }) {
  return (
    <>
      <PageHeader title="Settings" />
      <PageTabs label="Settings" tabs={TABS} />
      {children}
    </>
  )
}
