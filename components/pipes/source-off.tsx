import { ToggleLeft } from 'lucide-react'
import { ButtonLink } from '../ui/button-link.tsx'
import { EmptyState } from '../ui/empty-state.tsx'

/** Replaces features that a Pipe only has while one of its sources is on. */
export function SourceOff({ pipeId, children }: { pipeId: string; children: string }) {
  return (
    <EmptyState
      icon={ToggleLeft}
      title="The source is off"
      action={
        <ButtonLink href={`/dashboard/pipes/${pipeId}`} tone="primary">
          Inputs and outputs
        </ButtonLink>
      }
    >
      {children}
    </EmptyState>
  )
}
