import { Status } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'

export function WorkspaceState({
  suspendedAt,
  deleteAfter,
}: {
  suspendedAt: string | null
  deleteAfter: string | null
}) {
  if (suspendedAt) return <Status state="off" label="suspended" />
  if (!deleteAfter) return <Status state="active" />
  return (
    <span className="text-warn text-sm">
      ends <Time at={deleteAfter} />
    </span>
  )
}
