import { formatBytes, formatDuration, formatExact, plural } from '#components/format.ts'
import type { DestinationReason } from '#drizzle/schema/files.ts'
import { explainFailure, type File, type TimelineEntry } from '#lib/dashboard/files/file.ts'
import type { ReplayFacts } from '#lib/dashboard/files/read-replay.ts'
import { DECIDED_BY_IN_WORDS, REASONS_IN_WORDS } from '#lib/dashboard/files/words.ts'
import { explainRejection } from '#lib/hooks/rejection.ts'
import { seconds } from '#lib/platform/kernel/clock.ts'
import { isUuid, uuidv7Ms } from '#lib/platform/kernel/ids.ts'

export type Told = { title: string; text?: string; tone: 'plain' | 'good' | 'bad' | 'warn' }

/**
 * Adds the requests that are missing in a timeline, and counts the bytes of each from the start of the file. The request
 * that carries the last byte is only recorded as the decision or the completion, and one that the bucket rejected only as
 * the rejection. With several connections, the bytes of a request follow those confirmed before over all of them.
 */
export function completeRequests(
  entries: TimelineEntry[],
  { size, lastByteAt }: Pick<File, 'size' | 'lastByteAt'>,
): TimelineEntry[] {
  const complete: TimelineEntry[] = []
  let confirmed = 0
  const add = (at: string, { fromBytes, toBytes, ...detail }: TimelineEntry['detail']) => {
    const from = detail.lane ? confirmed : Number(fromBytes)
    confirmed = from + Number(toBytes) - Number(fromBytes)
    complete.push({ at, kind: 'request', detail: { ...detail, fromBytes: from, toBytes: confirmed } })
  }
  for (const entry of entries) {
    const before = complete.at(-1)
    if (entry.kind === 'request') {
      add(entry.at, entry.detail)
      continue
    }
    const toBytes = reachedBy(entry, size)
    if (toBytes > confirmed) {
      const lane = before?.detail.lane ?? false
      const isLast = toBytes === size && lastByteAt && lastByteAt >= (before?.at ?? '')
      const at = isLast && lastByteAt < entry.at ? lastByteAt : entry.at
      add(at, { fromBytes: confirmed, toBytes, ended: 'end', lane })
    }
    complete.push(entry)
  }
  return complete
}

function reachedBy({ kind, detail }: TimelineEntry, size: number | null): number {
  // Only a file that has all its bytes is decided on.
  if (kind === 'completed' || kind === 'decided') return size ?? 0
  return kind === 'bucket_refused' || kind === 'offset_asked' ? Number(detail.offsetBytes) : 0
}

/**
 * Merges consecutive requests with no interruption between them, since a client with small chunks makes hundreds. For
 * one that resumes the upload, adds how long nothing was sent before it.
 */
export function foldRequests(
  entries: TimelineEntry[],
  { lastRequestId }: Pick<ReplayFacts, 'lastRequestId'>,
): TimelineEntry[] {
  const folded: TimelineEntry[] = []
  for (const entry of entries) {
    const last = folded.at(-1)
    const isBeside = entry.detail.lane && last?.detail.lane
    const goesOn =
      last?.kind === 'request' &&
      (last.detail.ended === 'end' || isBeside) &&
      last.detail.toBytes === entry.detail.fromBytes
    if (entry.kind !== 'request') folded.push(entry)
    else if (goesOn) {
      const { toBytes, ended } = entry.detail
      const detail = {
        ...last.detail,
        toBytes: toBytes!,
        ended: ended!,
        requests: Number(last.detail.requests) + 1,
      }
      folded[folded.length - 1] = { ...entry, detail }
    } else {
      const quietMs = quietBefore(entry, folded, lastRequestId)
      const resume = wasBroken(last) && { resumed: true, quietMs, wasCut: last?.detail.ended === 'cut' }
      folded.push({ ...entry, detail: { ...entry.detail, requests: 1, ...resume } })
    }
  }
  return folded
}

/** For how long nothing had been sent when a request began. Zero if that is unknown, or if other connections sent. */
function quietBefore(
  { at, detail }: TimelineEntry,
  before: TimelineEntry[],
  lastRequestId: string | null,
): number {
  const stopped = before.findLast(({ kind }) => kind === 'request' || kind === 'bucket_refused')
  const beganMs = beganAt(detail.requestId ?? lastRequestId, Date.parse(at))
  return stopped?.kind === 'request' && !detail.lane && beganMs ? beganMs - Date.parse(stopped.at) : 0
}

/** An id contains the time at which its request began, unless a proxy chose the id or it is that of a later request. */
export function beganAt(requestId: unknown, endedMs: number): number | undefined {
  if (typeof requestId !== 'string' || !isUuid(requestId)) return undefined
  const beganMs = uuidv7Ms(requestId)
  return beganMs <= endedMs ? beganMs : undefined
}

function wasBroken(before: TimelineEntry | undefined): boolean {
  if (before?.kind === 'bucket_refused' || before?.kind === 'offset_asked') return true
  return before?.kind === 'request' && before.detail.ended !== 'end'
}

/** A timeline entry in words. */
export function tellEntry({ kind, detail }: TimelineEntry): Told {
  switch (kind) {
    case 'token_issued':
      return { title: 'Token issued', tone: 'plain' }
    case 'created':
      return { title: 'Upload created', tone: 'plain' }
    case 'request':
      return tellRequest(detail)
    case 'offset_asked':
      return { title: 'Interrupted', text: `${formatBytes(Number(detail.offsetBytes))} kept`, tone: 'plain' }
    case 'sftp_opened':
    case 'ftps_opened':
    case 'ftp_opened':
      return {
        title: `Opened over ${kind.replace('_opened', '').toUpperCase()}`,
        text: `From ${detail.address}${detail.fingerprint ? `, with the key ${detail.fingerprint}` : ''}`,
        tone: 'plain',
      }
    case 'import_interrupted':
      return {
        title: 'The source failed',
        text: `${detail.error} Next attempt ${formatExact(Date.parse(String(detail.nextAttemptAt)))}.`,
        tone: 'warn',
      }
    case 'completed':
    case 'transferred':
      return { title: 'In the bucket', text: CERTAINTY[String(detail.certainty)], tone: 'good' }
    case 'webhook_attempt':
      return tellAttempt(detail)
    case 'bucket_refused':
      return tellRefusal(detail)
    case 'decided':
      return tellDecision(detail)
    case 'destination_failed':
      return tellLack(detail)
    case 'repair_failed':
      return tellFailedRepair(detail)
    case 'destination_repaired':
      return { title: 'Copied to a destination that was missing it', tone: 'good' }
    case 'failed':
      return { title: 'Failed', text: reasonOf(detail), tone: 'bad' }
    case 'expired':
      return { title: 'Expired', text: reasonOf(detail), tone: 'warn' }
    case 'canceled':
      return { title: 'Canceled', text: reasonOf(detail), tone: 'plain' }
    default:
      return { title: kind.replaceAll('_', ' '), text: reasonOf(detail), tone: 'plain' }
  }
}

const CERTAINTY: Record<string, string> = {
  answered: 'Confirmed by the bucket.',
  confirmed: 'Sluice looked up the object in the bucket.',
  found: 'Sluice found the object in the bucket after the database was restored from an older backup.',
  inferred:
    "Inferred: the bucket's response was lost, and on the next request the bucket already had the object or no longer had the unfinished upload. Sluice has not looked at the object.",
}

const ENDED: Record<string, string> = {
  cut: 'the connection was lost',
  preempted: 'another request took over',
  draining: 'the server restarted',
}

/** Shorter times are not mentioned. */
const LEAST_MS = seconds(1)

function tellRequest({ fromBytes, toBytes, ended, resumed, requests, ...of }: TimelineEntry['detail']): Told {
  const [from, to] = [Number(fromBytes ?? 0), Number(toBytes ?? fromBytes ?? 0)]
  const why = ENDED[String(ended)]
  const title =
    from === 0
      ? 'Bytes arrived'
      : resumed
        ? `Resumed at ${formatBytes(from)}`
        : `Bytes ${formatBytes(from)} to ${formatBytes(to)}`
  const quietMs = Number(of.quietMs)
  const quiet =
    quietMs >= LEAST_MS
      ? `${of.wasCut ? 'No connection' : 'Nothing was sent'} for ${formatDuration(quietMs)}, then `
      : ''
  const many = Number(requests) > 1 ? ` in ${Number(requests)} requests` : ''
  return {
    title,
    text: `${quiet}${formatBytes(to - from)} confirmed${many}${why ? `, then ${why}` : ''}`,
    tone: why ? 'warn' : 'plain',
  }
}

function tellRefusal({ reason, times, lastAt }: TimelineEntry['detail']): Told {
  const again =
    Number(times) > 1
      ? ` ${plural(Number(times), 'time')}, most recently ${formatExact(Date.parse(String(lastAt)))}.`
      : ''
  return { title: 'The bucket rejected the request', text: `${reason}${again}`, tone: 'bad' }
}

const DECISIONS: Record<string, Told> = {
  allowed: { title: 'Allowed', tone: 'good' },
  deferred: { title: 'Decision deferred', tone: 'plain' },
  rejected: { title: 'Rejected', tone: 'bad' },
}

function tellDecision({ decision, reason, by }: TimelineEntry['detail']): Told {
  const why =
    typeof reason === 'string'
      ? explainRejection(reason)
      : `${decision === 'deferred' ? 'Deferred' : 'Decided'} ${DECIDED_BY_IN_WORDS[by as keyof typeof DECIDED_BY_IN_WORDS]}.`
  return { ...DECISIONS[String(decision)]!, text: why }
}

/** The destination was best effort, so the file continues without it. */
function tellLack({ reason, detail }: TimelineEntry['detail']): Told {
  const words = [REASONS_IN_WORDS[reason as DestinationReason], detail].filter(Boolean)
  return { title: 'A destination was abandoned', text: words.join(' '), tone: 'warn' }
}

function tellFailedRepair({ detail, last }: TimelineEntry['detail']): Told {
  const rest = last ? 'There are no further attempts unless you request one.' : ''
  return { title: 'A repair failed', text: [detail, rest].filter(Boolean).join(' '), tone: 'warn' }
}

function tellAttempt({ status, error, url, durationMs, trigger }: TimelineEntry['detail']): Told {
  const good = error === null
  const how = trigger === 'auto' ? '' : ` (${trigger})`
  const took = typeof durationMs === 'number' ? ` in ${formatDuration(durationMs)}` : ''
  return {
    title: `Webhook ${good ? 'delivered' : 'failed'}: ${status ?? error}${how}`,
    text: `${new URL(String(url)).host}${took}`,
    tone: good ? 'good' : 'bad',
  }
}

function reasonOf(detail: TimelineEntry['detail']): string | undefined {
  return typeof detail.reason === 'string' && detail.reason ? explainFailure(detail.reason) : undefined
}
