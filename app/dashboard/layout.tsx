import type { ReactNode } from 'react'
import { AccountMenu } from '#components/shell/account-menu.tsx'
import { MobileBar } from '#components/shell/mobile-bar.tsx'
import { Palette } from '#components/shell/palette.tsx'
import { QuotaMeter } from '#components/shell/quota-meter.tsx'
import { Sidebar } from '#components/shell/sidebar.tsx'
import { requireSession } from '../session.ts'

export default async function DashboardLayout({ children }: { children: ReactNode }) {
  const { actor, workspace } = await requireSession('see')
  const account = <AccountMenu email={actor.label} workspace={workspace.name} />
  return (
    <div className="min-h-dvh lg:flex">
      <Sidebar meter={<QuotaMeter actor={actor} />} account={account} />
      <MobileBar account={account} />
      <main id="main" className="min-w-0 flex-1 px-4 pt-6 pb-20 sm:px-8 lg:pt-8">
        <div className="mx-auto max-w-5xl">{children}</div>
      </main>
      <Palette />
    </div>
  )
}
