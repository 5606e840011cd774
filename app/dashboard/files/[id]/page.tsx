import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { formatBytes, formatPercent } from '#components/format.ts'
import { LiveRefresh } from '#components/live/live.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { Copyable } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { JsonView } from '#components/ui/json-view.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import {
  type DestinationProgress,
  readDestinationProgress,
} from '#lib/dashboard/files/destination-progress.ts'
import { type FileWithTimeline, isAwaited, shownStatus } from '#lib/dashboard/files/file.ts'
import { problemsOf } from '#lib/dashboard/files/file-problems.ts'
import { type ReplayFacts, readReplay } from '#lib/dashboard/files/read-replay.ts'
import { readUndelivered } from '#lib/dashboard/files/read-undelivered.ts'
import { isCut, MAX_ENTRIES, showFile } from '#lib/dashboard/files/show-file.ts'
import { PROTOCOL_NAMES } from '#lib/dashboard/files/words.ts'
import { readSnapshot } from '#lib/dashboard/live.ts'
import { readFailingImports, readImport } from '#lib/imports/read-imports.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../session.ts'
import { orNotFound, orNothing } from '../../or-not-found.ts'
import { titledBy } from '../../title-of.ts'
import { drawReplay } from './draw-replay.ts'
import { FileActions } from './file-actions.tsx'
import { AwaitingDecision, FileDecision } from './file-decision.tsx'
import { FileDestination } from './file-destination.tsx'
import { FileObject } from './file-object.tsx'
import { FileProblems } from './file-problems.tsx'
import { Replay } from './replay.tsx'
import { completeRequests, foldRequests } from './tell-entry.ts'
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
  const [pipe, from, failing, progress, undelivered, facts] = await Promise.all([
    showPipe(runtime, actor, file.pipeId).catch(orNothing),
    readImport(runtime, id),
    readFailingImports(runtime, [file]),
    readDestinationProgress(runtime.db, id),
    readUndelivered(runtime.db, id),
    readReplay(runtime.db, id),
  ])
  const underWay = file.status === 'uploading' || file.status === 'transferring'
  const entries = completeRequests(file.timeline, file)
  return (
    <>
      <LiveRefresh topic={`file:${id}`} seen={mark} />
      <PageHeader
        back={{ href: '/dashboard/files', label: 'Files' }}
        title={file.filename}
        beside={<Status state={failing.has(id) ? 'retrying' : shownStatus(file, runtime.clock.now())} />}
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
        <Panel
          title="Timeline"
          description={describeLanes(facts)}
          aside={
            underWay &&
            file.size !== null && (
              <p className="tnum text-ink-soft text-sm" aria-live="polite">
                {formatPercent(file.offset, file.size)}, {formatBytes(file.offset)} of{' '}
                {formatBytes(file.size)} confirmed
              </p>
            )
          }
        >
          <Replay replay={drawReplay(entries, file, facts)} size={file.size} />
          <Timeline entries={foldRequests(entries, facts)} />
          {isCut(file.timeline) && (
            <p className="mt-4 text-ink-faint text-sm">
              Only the first {MAX_ENTRIES} entries and the first {MAX_ENTRIES} webhook attempts are listed.
            </p>
          )}
        </Panel>
        <div className="space-y-5">
          {from && (
            <Panel title="Imported from" description={from.fetching && 'Fetching the file now.'}>
              <Copyable text={from.url} what="address" />
            </Panel>
          )}
          <FileFacts file={file} pipeName={pipe?.name} progress={progress} />
        </div>
      </div>
    </>
  )
}

function describeLanes({ lanes }: ReplayFacts): string | undefined {
  if (lanes.length === 0) return undefined
  const complete = lanes.filter(({ offsetBytes, lengthBytes }) => offsetBytes === lengthBytes).length
  return `Sent over several connections, ${complete} of ${lanes.length} ranges complete`
}

type FactsProps = {
  file: FileWithTimeline
  pipeName: string | undefined
  progress: ReadonlyMap<string, DestinationProgress>
}

function FileFacts({ file, pipeName, progress }: FactsProps) {
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
              <Digest digest={file.checksum} declared={file.declaredChecksum} />
            ) : (
              '–'
            ),
            'SHA-256': file.sha256 ? (
              <Digest digest={file.sha256} declared={file.declaredSha256} />
            ) : undefined,
            Resumes:
              file.resumeCount > 0 ? `${file.resumeCount}, ${formatBytes(file.savedBytes)} saved` : 'none',
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

function Digest({ digest, declared }: { digest: string; declared: string | null }) {
  return (
    <span>
      <code className="break-all font-mono text-xs">{digest}</code>
      {digest === declared && <span className="block text-good">Verified end to end</span>}
    </span>
  )
}

function Size({ size, mayFollow }: { size: number | null; mayFollow: boolean }) {
  if (size === null) return mayFollow ? 'not declared yet' : 'not declared'
  return <span title={`${size} bytes`}>{formatBytes(size)}</span>
}
