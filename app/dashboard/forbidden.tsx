import { LockKeyhole } from 'lucide-react'
import { PageHeader } from '#components/shell/page-header.tsx'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'

export const metadata = { title: 'Not allowed' }

/** Rendered inside the shell, so that navigation still works. */
export default function Forbidden() {
  return (
    <>
      <PageHeader title="Not allowed" />
      <EmptyState
        icon={LockKeyhole}
        title="Your role does not allow this"
        action={<ButtonLink href="/dashboard/settings/members">See owners and admins</ButtonLink>}
      >
        An owner or admin of this workspace can give you another role.
      </EmptyState>
    </>
  )
}
