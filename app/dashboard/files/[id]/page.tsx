import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { formatBytes, formatPercent } from '#components/format.ts'
import { LiveRefresh } from '#components/live/live.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { JsonView } from '#components/ui/json-view.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Progress } from '#components/ui/progress.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import {
  type DestinationProgress,
  readDestinationProgress,
} from '#lib/dashboard/files/destination-progress.ts'
import { type FileWithTimeline, isAwaited, shownStatus } from '#lib/dashboard/files/file.ts'
import { problemsOf } from '#lib/dashboard/files/file-problems.ts'
import { type LaneProgress, readLaneProgress } from '#lib/dashboard/files/lane-progress.ts'
import { readUndelivered } from '#lib/dashboard/files/read-undelivered.ts'
import { showFile } from '#lib/dashboard/files/show-file.ts'
import { PROTOCOL_NAMES } from '#lib/dashboard/files/words.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import { readImport } from '#lib/imports/read-imports.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../session.ts'
import { orNotFound, orNothing } from '../../or-not-found.ts'
import { titledBy } from '../../title-of.ts'
import { FileActions } from './file-actions.tsx'
import { AwaitingDecision, FileDecision } from './file-decision.tsx'
import { FileDestination } from './file-destination.tsx'
import { FileObject } from './file-object.tsx'
import { FileProblems } from './file-problems.tsx'
import { Timeline } from './timeline.tsx'

export const generateMetadata = titledBy('Files', async (...of) => ({
  name: (await showFile(...of)).filename,
}))

export default async function FilePage({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params
  const runtime = getRuntime()
  const actor = await currentActor('see')
  const { mark } = await readSnapshot(runtime.db, actor.workspaceId, `file:${id}`)
  const file = await orNotFound(showFile(runtime, actor, id))
  const [pipe, from, progress, undelivered, lanes] = await Promise.all([
    showPipe(runtime, actor, file.pipeId).catch(orNothing),
    readImport(runtime, id),
    readDestinationProgress(runtime.db, id),
    readUndelivered(runtime.db, id),
    readLaneProgress(runtime.db, id),
  ])
  const underWay = file.status === 'uploading' || file.status === 'transferring'
  return (
    <>
      <LiveRefresh topic={`file:${id}`} seen={mark} />
      <PageHeader
        back={{ href: '/dashboard/files', label: 'Files' }}
        title={file.filename}
        beside={<Status state={shownStatus(file, runtime.clock.now())} />}
        actions={
          <>
            <JsonView kind="file" id={id} />
            <FileActions
              id={id}
              name={file.filename}
              underWay={underWay}
              cancelable={file.status === 'uploading'}
            />
          </>
        }
      />
      {underWay && (
        <RejectingBanner actor={actor} only={file.destinations.map(({ destinationId }) => destinationId)} />
      )}
      {file.decision && isAwaited(file.decision) && <AwaitingDecision id={id} decision={file.decision} />}
      <FileProblems id={id} problems={problemsOf({ file, from, progress, undelivered })} />
      <div className="grid items-start gap-5 lg:grid-cols-[1fr_22rem]">
        <Panel title="Timeline" className="max-lg:order-2">
          <Timeline entries={file.timeline} size={file.size} />
        </Panel>
        <div className="space-y-5">
          {from && (
            <Panel title="Imported from" description={from.fetching && 'Fetching the file now.'}>
              <Copyable text={from.url} what="address" />
            </Panel>
          )}
          {underWay && file.size !== null && (
            <Panel title="Progress">
              <Progress value={file.offset} max={file.size} label="Confirmed" className="h-2" />
              {file.status === 'uploading' && <Lanes lanes={lanes} />}
              <p className="tnum mt-2 text-ink-soft text-sm" aria-live="polite">
                {formatPercent(file.offset, file.size)}, {formatBytes(file.offset)} of{' '}
                {formatBytes(file.size)} confirmed
              </p>
            </Panel>
          )}
          <FileFacts file={file} pipeName={pipe?.name} progress={progress} />
        </div>
      </div>
    </>
  )
}

/** A bar for each range of the file that has a connection of its own. */
function Lanes({ lanes }: { lanes: readonly LaneProgress[] }) {
  if (lanes.length === 0) return null
  const complete = lanes.filter(({ offsetBytes, lengthBytes }) => offsetBytes === lengthBytes).length
  return (
    <div className="mt-3">
      <div className="flex gap-0.5" aria-hidden>
        {lanes.map(({ lengthBytes, offsetBytes }, n) => (
          <div key={n} className="min-w-0" style={{ flexGrow: lengthBytes }}>
            <Progress value={offsetBytes} max={lengthBytes} label={`Lane ${n + 1}`} />
          </div>
        ))}
      </div>
      <p className="tnum mt-2 text-ink-soft text-sm">
        Sent over several connections, {complete} of {lanes.length} ranges complete
      </p>
    </div>
  )
}

function FileFacts({
  file,
  pipeName,
  progress,
}: {
  file: FileWithTimeline
  pipeName: string | undefined
  progress: ReadonlyMap<string, DestinationProgress>
}) {
  const metadata = { ...file.uploadMetadata, ...file.metadata }
  return (
    <>
      <Panel title="File">
        <Facts
          facts={{
            Size: <Size size={file.size} mayFollow={file.status === 'uploading'} />,
            Type: file.filetype ?? '–',
            Content: file.foundType ?? undefined,
            Folder: file.folder ? (
              <TextLink href={`/dashboard/files?${new URLSearchParams({ folder: file.folder })}`}>
                {file.folder}
              </TextLink>
            ) : undefined,
            Batch: file.batch ? (
              <TextLink href={`/dashboard/files?${new URLSearchParams({ batchId: file.batch.id })}`}>
                {file.batch.name}
              </TextLink>
            ) : undefined,
            Pipe: pipeName ? (
              <TextLink href={`/dashboard/pipes/${file.pipeId}`}>{pipeName}</TextLink>
            ) : (
              <span title={file.pipeId}>deleted</span>
            ),
            Sender: file.senderId ? (
              <TextLink href={`/dashboard/senders/${file.senderId}`}>{file.sender}</TextLink>
            ) : (
              file.sender
            ),
            Subject: file.subject ?? '–',
            Protocol: PROTOCOL_NAMES[file.protocol],
            Checksum: file.checksum ? (
              <span>
                <code className="font-mono text-xs">{file.checksum}</code>
                {file.checksum === file.declaredChecksum && (
                  <span className="block text-good">Verified end to end</span>
                )}
              </span>
            ) : (
              '–'
            ),
            Resumes: `${file.resumeCount}, ${formatBytes(file.savedBytes)} saved`,
            Created: <Time at={file.createdAt} />,
            Expires: file.status === 'uploading' ? <Time at={file.expiresAt} /> : undefined,
          }}
        />
      </Panel>
      <Panel title="Id">
        <Copyable text={file.id} what="file id" />
      </Panel>
      {file.destinations.map((destination) => (
        <FileDestination
          key={destination.destinationId}
          file={file}
          destination={destination}
          progress={progress.get(destination.destinationId)!}
        />
      ))}
      {file.decision && !isAwaited(file.decision) && <FileDecision decision={file.decision} />}
      {file.object && !file.destinations.every(({ object }) => object) && <FileObject object={file.object} />}
      {Object.keys(metadata).length > 0 && (
        <Panel title="Metadata">
          <Facts facts={metadata} />
        </Panel>
      )}
    </>
  )
}

function Size({ size, mayFollow }: { size: number | null; mayFollow: boolean }) {
  if (size === null) return mayFollow ? 'not declared yet' : 'not declared'
  return <span title={`${size} bytes`}>{formatBytes(size)}</span>
}
