import { ToggleLeft } from 'lucide-react'
import { ButtonLink } from '#components/ui/button-link.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'

/** Shown in place of a feature that a Pipe only has while a particular source is on. */
export function SourceOff({ pipeId, children }: { pipeId: string; children: string }) {
  return (
    <EmptyState
      icon={ToggleLeft}
      title="The source is off"
      action={
        <ButtonLink href={`/dashboard/pipes/${pipeId}/sources`} tone="primary">
          Open the sources
        </ButtonLink>
      }
    >
      {children}
    </EmptyState>
  )
}
