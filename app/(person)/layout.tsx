import type { ReactNode } from 'react'
import { HomeLink } from '#components/brand/mark.tsx'
import { currentPerson } from '../session.ts'
import { AccountMenu } from './account-menu.tsx'

/** The layout for signed-in users who have no workspace open. */
export default async function PersonLayout({ children }: { children: ReactNode }) {
  const person = await currentPerson()
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex h-14 items-center justify-between gap-4 px-4 sm:px-6">
        <HomeLink href="/dashboard" />
        <div className="min-w-0">{person && <AccountMenu email={person.email} />}</div>
      </header>
      <main id="main" className="mx-auto flex w-full max-w-lg flex-1 flex-col px-4 pt-[7vh] pb-16">
        {children}
      </main>
    </div>
  )
}
