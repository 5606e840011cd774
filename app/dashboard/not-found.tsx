import { SearchX } from 'lucide-react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { ShortcutKey } from '#components/shell/shortcut-key.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'

export const metadata = { title: 'Not found' }

/** Rendered inside the shell, so that navigation still works. */
export default function NotFound() {
  return (
    <>
      <PageHeader title="Not found" />
      <EmptyState
        icon={SearchX}
        title="There is nothing here"
        action={<ButtonLink href="/dashboard">Go to the overview</ButtonLink>}
      >
        The item was deleted, or it was never in this workspace. Press <ShortcutKey /> to search.
      </EmptyState>
    </>
  )
}
