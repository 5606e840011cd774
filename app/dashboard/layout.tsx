import type { ReactNode } from 'react'
import { Notice } from '#components/ui/notice.tsx'
import { RightsProvider } from '#components/ui/rights.tsx'
import { operatorOf } from '#lib/dashboard/operators/steer-workspace.ts'
import { ALL_RIGHTS, may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { AccountMenu } from '../(person)/account-menu.tsx'
import { requireSession } from '../session.ts'
import { MobileBar } from './shell/mobile-bar.tsx'
import { Palette } from './shell/palette.tsx'
import { Sidebar } from './shell/sidebar.tsx'

type Props = { children: ReactNode; meter: ReactNode }

export default async function DashboardLayout({ children, meter }: Props) {
  const session = await requireSession('see')
  const { actor, workspace } = session
  const isSuspended = workspace.suspendedReason !== null
  const operator = operatorOf(getRuntime().config, session) !== undefined
  const account = <AccountMenu email={actor.label} workspace={workspace.name} operator={operator} />
  return (
    <RightsProvider rights={ALL_RIGHTS.filter((right) => may(actor, right))}>
      <div className="min-h-dvh lg:flex">
        <Sidebar meter={meter} account={account} />
        <MobileBar account={account} />
        <main id="main" className="min-w-0 flex-1 px-4 pt-6 pb-20 sm:px-8 lg:pt-8">
          <div className="mx-auto max-w-5xl has-[[data-list]]:max-w-screen-2xl">
            {(isSuspended || workspace.deleteAfter) && (
              <Notice
                tone="warn"
                className="mb-5"
                title={
                  isSuspended ? 'This workspace is suspended' : 'This workspace is scheduled for deletion'
                }
              >
                It issues no tokens and accepts no bytes. All its data is kept, and uploads keep their
                offsets.{' '}
                {isSuspended
                  ? workspace.suspendedReason && `The reason: ${workspace.suspendedReason}`
                  : 'An owner can restore it under Settings, Workspace.'}
              </Notice>
            )}
            {children}
          </div>
        </main>
        <Palette />
      </div>
    </RightsProvider>
  )
}
