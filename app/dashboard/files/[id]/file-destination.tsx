import { REASONS_IN_WORDS } from '#components/files/words.ts'
import { formatBytes } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Progress } from '#components/ui/progress.tsx'
import { Status } from '#components/ui/status.tsx'
import { Time } from '#components/ui/time.tsx'
import type { DestinationProgress } from '#lib/dashboard/files/destination-progress.ts'
import type { File } from '#lib/dashboard/files/file.ts'
import { NO_SOURCE } from '#lib/uploads/rules/file-status.ts'
import { repair } from './actions.ts'
import { SentSettings } from './file-object.tsx'

type Props = { file: File; destination: File['destinations'][number]; progress: DestinationProgress }

/** One of a file's destinations: its progress, why it failed, and how to repair it. */
export function FileDestination({ file, destination, progress }: Props) {
  const { status, required, bucket, key, etag, object } = destination
  const { name, isRepairing, sentBytes } = progress
  const isUnderWay = file.status === 'uploading' || file.status === 'transferring'
  const several = file.destinations.length > 1
  return (
    <Panel
      title={several ? name : 'Destination'}
      aside={
        <span className="flex flex-wrap gap-1.5">
          {several && <Status state={required ? 'required' : 'best_effort'} />}
          <Status state={isRepairing ? 'repairing' : status} />
        </span>
      }
    >
      <div className="space-y-3">
        {several && isUnderWay && status !== 'failed' && file.size !== null && (
          <BytesThere value={sentBytes} max={file.size} label={`In ${name}`} />
        )}
        {status === 'failed' && <Failure file={file} destination={destination} progress={progress} />}
        <Facts facts={{ Bucket: bucket, ETag: etag ?? '–' }} />
        <Copyable text={key} what="object key" />
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

function Failure({ file, destination: { reason, reasonDetail }, progress }: Props) {
  return (
    <div className="space-y-2 text-sm empty:hidden">
      {reason && <p>{REASONS_IN_WORDS[reason]}</p>}
      {reasonDetail && reasonDetail !== NO_SOURCE && (
        <p className="break-words text-ink-soft">{reasonDetail}</p>
      )}
      {file.status === 'partially_transferred' && <Repair file={file} progress={progress} />}
    </div>
  )
}

function Repair({ file, progress }: Omit<Props, 'destination'>) {
  const { destinationId, name, repairAtMs, repairedBytes, isRepairing, sources } = progress
  if (sources.length === 0) return <p className="text-ink-soft">{NO_SOURCE}</p>
  return (
    <>
      {repairedBytes !== null && file.size !== null && (
        <BytesThere value={repairedBytes} max={file.size} label={`Copied to ${name}`} />
      )}
      {repairAtMs !== null && !isRepairing && (
        <p className="text-ink-soft">
          The object will be copied from {sources[0]}. The next attempt is due{' '}
          <Time at={new Date(repairAtMs).toISOString()} />.
        </p>
      )}
      {!isRepairing && (
        <ActionForm
          right="operate"
          action={repair.bind(null, file.id, destinationId)}
          submit="Repair now"
          about={`: ${name}`}
          submitSize="sm"
        />
      )}
    </>
  )
}
