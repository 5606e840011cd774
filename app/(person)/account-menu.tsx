import { ChevronsUpDown, LogOut } from 'lucide-react'
import Link from 'next/link'
import { ThemeToggle } from '#components/shell/theme-toggle.tsx'
import { signOut } from './sign-out.ts'

type Props = { email: string; workspace?: string; operator?: boolean }

export function AccountMenu({ email, workspace, operator = false }: Props) {
  return (
    <>
      {workspace !== undefined && (
        <Link
          href="/workspaces"
          className="flex items-center justify-between gap-2 rounded-md px-2.5 py-1.5 font-medium text-sm hover:bg-hover"
        >
          <span className="sr-only">Workspace: </span>
          <span className="truncate" title={workspace}>
            {workspace}
          </span>
          <ChevronsUpDown className="size-3.5 shrink-0 text-ink-faint" aria-hidden />
        </Link>
      )}
      {operator && (
        <Link
          href="/operator"
          className="block rounded-md px-2.5 py-1.5 text-ink-soft text-sm hover:bg-hover hover:text-ink"
        >
          Operator console
        </Link>
      )}
      <Account email={email} />
    </>
  )
}

function Account({ email }: { email: string }) {
  return (
    <div className="flex flex-wrap items-center gap-x-1">
      <Link
        href="/dashboard/settings"
        className="min-w-0 max-w-full flex-auto truncate rounded-md px-2.5 py-1.5 text-ink-soft text-sm hover:bg-hover hover:text-ink"
        title={email}
      >
        {email}
      </Link>
      <div className="ml-auto flex items-center gap-1">
        <ThemeToggle />
        <form action={signOut}>
          <button
            type="submit"
            aria-label="Sign out"
            title="Sign out"
            className="grid size-8 place-items-center rounded-md text-ink-faint hover:bg-hover hover:text-ink"
          >
            <LogOut className="size-4" aria-hidden />
          </button>
        </form>
      </div>
    </div>
  )
}
