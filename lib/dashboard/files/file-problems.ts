import { explainRejection } from '../../hooks/rejection.ts'
import { NO_SOURCE } from '../../repairs/request-repair.ts'
import type { DestinationProgress } from './destination-progress.ts'
import { explainFailure, type File } from './file.ts'
import type { Undelivered } from './read-undelivered.ts'
import { DECIDED_BY_IN_WORDS, REASONS_IN_WORDS } from './words.ts'

/** What went wrong with a file, why, and what helps. */
export type FileProblem = {
  tone: 'bad' | 'warn' | 'info'
  title: string
  text: string
  /** When Sluice tries again. */
  nextAttemptAt?: string | null
  repair?: { dataStoreId: string; name: string }
  resend?: { deliveryIds: string[]; host: string }
  /** The page where the cause can be removed. */
  cause?: { href: string; label: string }
  /** The page with the details. */
  detail?: { href: string; label: string }
}

/** The source of an import. */
export type ImportSource = { lastError: string | null; nextAttemptAt: string | null; fetching: boolean }

type Given = {
  file: File
  from: ImportSource | null
  progress: ReadonlyMap<string, DestinationProgress>
  undelivered: Undelivered[]
}

export function problemsOf({ file, from, progress, undelivered }: Given): FileProblem[] {
  const isStored = file.status === 'transferred' || file.status === 'partially_transferred'
  const isOpen = file.status === 'uploading' || file.status === 'transferring'
  const missing = file.destinations.filter(({ status }) => status === 'failed' && (isStored || isOpen))
  return [
    ...(file.failureReason ? [endOf(file, file.failureReason, from !== null)] : []),
    ...(isOpen && from?.lastError && from.nextAttemptAt && !from.fetching ? [failingSource(from)] : []),
    ...missing.map((destination) => missingCopy(file, destination, progress.get(destination.destinationId)!)),
    ...undelivered.map(notAccepted),
  ]
}

function endOf(file: File, reason: string, isImport: boolean): FileProblem {
  const { status, decision, pipeId, destinations } = file
  if (decision?.state === 'rejected') {
    const title = `Rejected ${decision.decidedBy ? DECIDED_BY_IN_WORDS[decision.decidedBy] : ''}`.trim()
    const text = `${explainRejection(decision.reason ?? '')} No object was created.`.trim()
    const cause = { href: `/dashboard/pipes/${pipeId}/decisions`, label: 'Decision hooks' }
    return { tone: 'info', title, text, cause }
  }
  const text = explainFailure(reason)
  if (status !== 'failed')
    return { tone: 'warn', title: `The upload ${status === 'expired' ? 'expired' : 'was canceled'}`, text }
  if (isImport) {
    const cause = { href: `/dashboard/pipes/${pipeId}/import`, label: 'Import it again' }
    return { tone: 'bad', title: 'The import failed', text, cause }
  }
  // Any other reason is in the words of the bucket.
  if (text !== reason || reason.startsWith('The client'))
    return { tone: 'bad', title: 'The upload failed', text }
  const cause = storePage(destinations[0]!.destinationId)
  return { tone: 'bad', title: 'The bucket did not store the file', text, cause }
}

const storePage = (id: string) => ({ href: `/dashboard/data-stores/${id}`, label: 'Check the Data Store' })

const failingSource = ({ lastError, nextAttemptAt }: ImportSource): FileProblem => ({
  tone: 'warn',
  title: 'The source of this import fails',
  text: lastError!,
  nextAttemptAt,
})

type Destination = File['destinations'][number]

function missingCopy(
  file: File,
  { reason, reasonDetail }: Destination,
  progress: DestinationProgress,
): FileProblem {
  const { destinationId, name, isRepairing, repairAtMs, sources } = progress
  const isDone = file.status === 'partially_transferred'
  const words = [
    reason && REASONS_IN_WORDS[reason],
    reasonDetail !== NO_SOURCE && reasonDetail,
    isDone && (sources.length === 0 ? NO_SOURCE : !isRepairing && `It can be copied from ${sources[0]}.`),
  ]
  return {
    tone: 'warn',
    title: isRepairing ? `The object is being copied to ${name}` : `${name} does not have the object`,
    text: words.filter(Boolean).join(' '),
    nextAttemptAt: isRepairing || repairAtMs === null ? null : new Date(repairAtMs).toISOString(),
    cause: storePage(destinationId),
    ...(isDone && sources.length > 0 && !isRepairing && { repair: { dataStoreId: destinationId, name } }),
  }
}

function notAccepted({
  outputId,
  deliveryIds,
  host,
  error,
  response,
  nextAttemptAtMs,
}: Undelivered): FileProblem {
  const which = deliveryIds.length === 1 ? 'the webhook' : `${deliveryIds.length} webhooks`
  return {
    tone: nextAttemptAtMs === null ? 'bad' : 'warn',
    title: `${host} has not accepted ${which}`,
    text: [error, response && `“${response}”`, nextAttemptAtMs === null && 'No further attempt is planned.']
      .filter(Boolean)
      .join(' '),
    nextAttemptAt: nextAttemptAtMs === null ? null : new Date(nextAttemptAtMs).toISOString(),
    resend: { deliveryIds, host },
    cause: { href: `/dashboard/webhooks/outputs/${outputId}`, label: 'Change the endpoint' },
    detail: {
      href: `/dashboard/webhooks?delivery=${deliveryIds[0]}`,
      label: 'See the request and the response',
    },
  }
}
