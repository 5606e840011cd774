import { Status } from '#components/ui/status.tsx'
import { Time } from '#components/ui/time.tsx'

type Props = { suspendedAt: string | null; deleteAfter: string | null }

export function WorkspaceState({ suspendedAt, deleteAfter }: Props) {
  if (suspendedAt) return <Status state="off" label="suspended" />
  if (!deleteAfter) return <Status state="active" />
  return (
    <span className="text-warn text-sm">
      will be deleted <Time at={deleteAfter} />
    </span>
  )
}

/** The alerts an operator sees for each workspace, by kind. */
export const PROBLEMS: Record<string, string> = {
  bucket_rejects: 'Data Store rejects uploads',
  output_off: 'Webhook was turned off',
  output_failing: 'Webhook has been failing for an hour',
  hook_failing: 'Decision hook is not responding',
  copies_missing: 'Copies are missing from a Data Store',
}
