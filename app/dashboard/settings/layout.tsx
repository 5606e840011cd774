import type { ReactNode } from 'react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'
import { listTurnedOff } from '#lib/identity/accounts/turned-off.ts'
import { may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../session.ts'
import { WORKSPACE, YOU } from './sections.ts'

const TURNED_OFF = { href: '/dashboard/settings/turned-off', title: 'Turned off' }
const MAILS = { href: '/dashboard/settings/mails', title: 'Emails' }

export default async function SettingsLayout({ children }: { children: ReactNode }) {
  const { workspace, actor } = await requireSession('see')
  const runtime = getRuntime()
  const turnedOff = await listTurnedOff(runtime, actor)
  const ofWorkspace = [
    ...WORKSPACE,
    ...(turnedOff.length > 0 ? [TURNED_OFF] : []),
    ...(workspace.demo && may(actor, 'own') && !runtime.config.smtpUrl ? [MAILS] : []),
  ]
  const tabs = [
    { href: YOU[0]!.href, title: 'You', sections: YOU },
    { href: WORKSPACE[0]!.href, title: 'Workspace', sections: ofWorkspace },
  ]
  return (
    <>
      <PageHeader title="Settings" />
      <PageTabs label="Settings" tabs={tabs}>
        {children}
      </PageTabs>
    </>
  )
}
