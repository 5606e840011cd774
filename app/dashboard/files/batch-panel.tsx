import Link from 'next/link'
import { formatCount, plural } from '#components/format.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { hrefOf } from '#components/shell/pager.tsx'
import { Button } from '#components/ui/button.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { Progress } from '#components/ui/progress.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Status } from '#components/ui/status.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { LocalTime } from '#components/ui/time.tsx'
import { type Batch, countOutcomes } from '#lib/batches/batch.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { seal } from './actions.ts'

/** What a batch is waiting for, how its files have ended so far, and when that was reported. */
export async function BatchPanel({ batch, pipeName }: { batch: Batch; pipeName: string | undefined }) {
  const { id, pipeId, name, namedBy, subject, files, open, createdAt, sealedAt, completedAt } = batch
  const outcomes = await countOutcomes(getRuntime(), id)
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/files', label: 'Files' }}
        title={name}
        beside={
          completedAt ? (
            <Status state="verified" label="complete" />
          ) : sealedAt ? (
            <Status state="pending" label="sealed" />
          ) : (
            <Status state="open" label="accepts files" />
          )
        }
        actions={!sealedAt && <SealBatch id={id} />}
      />
      <Panel title="Batch" description={next(batch)} className="mb-5">
        <Progress value={files - open} max={files} label="Files that have ended" />
        <p className="tnum mt-3 mb-4 flex flex-wrap items-center gap-2 text-sm">
          {formatCount(files - open)} of {plural(files, 'file')} {files - open === 1 ? 'has' : 'have'} ended
          {outcomes.map(({ status, count }) => (
            <Link key={status} href={hrefOf('/dashboard/files', { batchId: id, status })}>
              <Status state={status} label={`${formatCount(count)} ${status.replaceAll('_', ' ')}`} />
            </Link>
          ))}
        </p>
        <Facts
          facts={{
            Pipe: pipeName ? <TextLink href={`/dashboard/pipes/${pipeId}`}>{pipeName}</TextLink> : 'deleted',
            Subject: subject ?? undefined,
            Named: namedBy === 'token' ? 'by your backend, in a token' : 'by the uploader',
            Created: <LocalTime at={createdAt} />,
            Sealed: sealedAt ? <LocalTime at={sealedAt} /> : undefined,
            Complete: completedAt ? <LocalTime at={completedAt} /> : undefined,
          }}
        />
      </Panel>
    </>
  )
}

function next({ sealedAt, completedAt }: Batch): string {
  if (completedAt) return 'All files have ended, and the event batch.completed reports how.'
  if (sealedAt)
    return 'It accepts no more files. Once all of them have ended, the event batch.completed reports how.'
  return 'It accepts files until it is sealed. Once it is sealed and all files have ended, the event batch.completed reports how.'
}

function SealBatch({ id }: { id: string }) {
  return (
    <IfMay right="operate">
      <ConfirmDialog
        trigger={<Button>Seal…</Button>}
        title="Seal this batch"
        confirm="Seal the batch"
        action={seal.bind(null, id)}
      >
        <p>It accepts no more files. Uploads in progress continue. This cannot be undone.</p>
      </ConfirmDialog>
    </IfMay>
  )
}
