import type { ReactNode } from 'react'
import { HomeLink } from '#components/brand/mark.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'
import { AccountMenu } from '../(person)/account-menu.tsx'
import { requireOperator } from '../session.ts'

export const metadata = { title: { default: 'Operator', template: '%s · Operator · Sluice' } }

const TABS = [
  { href: '/operator', title: 'Workspaces' },
  { href: '/operator/service', title: 'Service' },
]

/** For the service's operator; everyone else gets a 404. */
export default async function OperatorLayout({ children }: { children: ReactNode }) {
  const { email } = await requireOperator()
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-14 items-center justify-between gap-4 border-b px-4 sm:px-6">
        <HomeLink href="/dashboard" />
        <div className="min-w-0">
          <AccountMenu email={email} />
        </div>
      </header>
      <main id="main" className="mx-auto w-full max-w-5xl flex-1 px-4 pt-6 pb-20 sm:px-8">
        <h1 className="mb-4 font-semibold text-2xl tracking-[-0.02em]">Operator</h1>
        <PageTabs label="Operator" tabs={TABS} />
        {children}
      </main>
    </div>
  )
}
