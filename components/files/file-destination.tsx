import type { DestinationProgress } from '#lib/dashboard/files/destination-progress.ts'
import type { File } from '#lib/dashboard/files/file.ts'
import { formatBytes } from '../format.ts'
import { Copyable } from '../ui/copyable.tsx'
import { Facts } from '../ui/facts.tsx'
import { Panel } from '../ui/panel.tsx'
import { Progress } from '../ui/progress.tsx'
import { Status } from '../ui/status.tsx'
import { REASONS_IN_WORDS } from './destination-reasons.ts'

type Props = { file: File; destination: File['destinations'][number]; progress: DestinationProgress }

/** One of the places where a file goes: how far it is, and why it failed. */
export function FileDestination({ file, destination, progress }: Props) {
  const { status, required, bucket, key, etag } = destination
  const { name, sentBytes } = progress
  const isUnderWay = file.status === 'uploading' || file.status === 'transferring'
  const several = file.destinations.length > 1
  return (
    <Panel
      title={several ? name : 'Destination'}
      aside={
        <span className="flex flex-wrap gap-1.5">
          {several && <Status state={required ? 'required' : 'best_effort'} />}
          <Status state={status} />
        </span>
      }
    >
      <div className="space-y-3">
        {several && isUnderWay && status !== 'failed' && file.size !== null && (
          <BytesThere value={sentBytes} max={file.size} label={`In ${name}`} />
        )}
        {status === 'failed' && <Failure {...destination} />}
        <Facts
          facts={[
            ['Bucket', bucket],
            ['ETag', etag ?? '–'],
          ]}
        />
        <Copyable text={key} what="object key" />
      </div>
    </Panel>
  )
}

function BytesThere({ value, max, label }: { value: number; max: number; label: string }) {
  return (
    <div>
      <Progress value={value} max={max} label={label} className="h-1.5" />
      <p className="tnum mt-1.5 text-ink-soft text-xs">
        {formatBytes(value)} of {formatBytes(max)} in recorded parts
      </p>
    </div>
  )
}

function Failure({ reason, reasonDetail }: Props['destination']) {
  return (
    <div className="space-y-2 text-sm">
      {reason && <p>{REASONS_IN_WORDS[reason]}</p>}
      {reasonDetail && <p className="break-words text-ink-soft">{reasonDetail}</p>}
    </div>
  )
}
