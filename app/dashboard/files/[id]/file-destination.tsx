import { formatBytes } from '#components/format.ts'
import { Copyable, CopyableId } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Progress } from '#components/ui/progress.tsx'
import { Status } from '#components/ui/status.tsx'
import { LINK } from '#components/ui/text-link.tsx'
import type { DestinationProgress } from '#lib/dashboard/files/destination-progress.ts'
import { type File, isAwaited } from '#lib/dashboard/files/file.ts'
import { REASONS_IN_WORDS } from '#lib/dashboard/files/words.ts'
import { SentSettings } from './file-object.tsx'

type Props = { file: File; destination: File['destinations'][number]; progress: DestinationProgress }

/** One of a file's destinations and its progress. */
export function FileDestination({ file, destination, progress }: Props) {
  const { status, required, bucket, key, etag, object, reason } = destination
  const { name, isRepairing, sentBytes, repairedBytes, inConsole } = progress
  const isUnderWay = file.status === 'uploading' || file.status === 'transferring'
  const awaits = status === 'transferring' && file.decision && isAwaited(file.decision)
  const several = file.destinations.length > 1
  return (
    <Panel
      title={several ? name : 'Destination'}
      aside={
        <span className="flex flex-wrap gap-1.5">
          {several && <Status state={required ? 'required' : 'best_effort'} />}
          <Status state={isRepairing ? 'repairing' : awaits ? 'awaiting_decision' : status} />
        </span>
      }
    >
      <div className="space-y-3">
        {several && isUnderWay && status !== 'failed' && file.size !== null && (
          <BytesThere value={sentBytes} max={file.size} label={`In ${name}`} />
        )}
        {repairedBytes !== null && file.size !== null && (
          <BytesThere value={repairedBytes} max={file.size} label={`Copied to ${name}`} />
        )}
        <Facts
          facts={{
            Bucket: <CopyableId id={bucket} what="the bucket's name" />,
            ETag: etag ?? '–',
            Reason: reason && status === 'failed' ? REASONS_IN_WORDS[reason] : undefined,
          }}
        />
        <Copyable text={key} what="object key" />
        {inConsole && status === 'transferred' && (
          <p className="text-sm">
            <a href={inConsole.href} target="_blank" rel="noreferrer" className={LINK}>
              Open in the {inConsole.console}
            </a>
          </p>
        )}
        {object && <SentSettings object={object} to={several ? name : bucket} />}
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
