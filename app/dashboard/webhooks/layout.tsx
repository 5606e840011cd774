import type { ReactNode } from 'react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'
import { requireSession } from '../../session.ts'

const TABS = [
  { href: '/dashboard/webhooks', title: 'Deliveries' },
  { href: '/dashboard/webhooks/inbox', title: 'Inbox' },
  { href: '/dashboard/webhooks/verify', title: 'Verify a signature' },
]

export default async function WebhooksLayout({ children }: { children: ReactNode }) {
  await requireSession('see')
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="What was sent to your backends, how they responded, and when failed deliveries will be retried."
      />
      <PageTabs label="Webhooks" tabs={TABS} />
      {children}
    </>
  )
}
