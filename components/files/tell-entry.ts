import type { TimelineEntry } from '#lib/files/file.ts'
import { formatBytes, formatDuration } from '../format.ts'

export type Told = { title: string; text?: string; tone: 'plain' | 'good' | 'bad' | 'warn' }

/**
 * Requests that follow each other without a break read as one: a client with small chunks makes hundreds. The one that
 * brings the last byte is noted as the completion, so what it brought is told from the size.
 */
export function foldRequests(entries: TimelineEntry[], size: number | null): TimelineEntry[] {
  const folded: TimelineEntry[] = []
  let confirmed = 0
  const add = (request: TimelineEntry) => {
    const last = folded.at(-1)
    confirmed = Number(request.detail.toBytes)
    const goesOn =
      last?.kind === 'request' &&
      last.detail.ended === 'end' &&
      last.detail.toBytes === request.detail.fromBytes
    if (!goesOn) {
      folded.push({ ...request, detail: { ...request.detail, requests: 1, resumed: wasBroken(last) } })
      return
    }
    const { fromBytes, resumed, requests } = last.detail
    const detail = {
      ...request.detail,
      fromBytes: fromBytes!,
      resumed: resumed!,
      requests: Number(requests) + 1,
    }
    folded[folded.length - 1] = { ...last, detail }
  }
  for (const entry of entries) {
    if (entry.kind === 'request') {
      add(entry)
      continue
    }
    if (entry.kind === 'completed' && size !== null && size > confirmed) {
      add({ at: entry.at, kind: 'request', detail: { fromBytes: confirmed, toBytes: size, ended: 'end' } })
    }
    folded.push(entry)
  }
  return folded
}

function wasBroken(before: TimelineEntry | undefined): boolean {
  return before?.kind === 'request' && before.detail.ended !== 'end'
}

/** An entry of a file's timeline in words. */
export function tellEntry({ kind, detail }: TimelineEntry): Told {
  switch (kind) {
    case 'token_issued':
      return { title: 'Token issued', tone: 'plain' }
    case 'created':
      return { title: 'Upload created', tone: 'plain' }
    case 'request':
      return tellRequest(detail)
    case 'completed':
    case 'transferred':
      return { title: 'In the bucket', text: CERTAINTY[String(detail.certainty)], tone: 'good' }
    case 'webhook_attempt':
      return tellAttempt(detail)
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
  answered: 'The bucket answered so.',
  confirmed: 'It was looked up in the bucket.',
  inferred: 'The bucket knows the upload no more, which means that it was completed.',
}

const ENDED: Record<string, string> = {
  cut: 'the connection was lost',
  preempted: 'another request took over',
  draining: 'the server was restarted',
}

function tellRequest({ fromBytes, toBytes, ended, resumed, requests }: TimelineEntry['detail']): Told {
  const [from, to] = [Number(fromBytes ?? 0), Number(toBytes ?? fromBytes ?? 0)]
  const why = ENDED[String(ended)]
  const title = resumed
    ? `Resumed at ${formatBytes(from)}`
    : from > 0
      ? `Bytes ${formatBytes(from)} to ${formatBytes(to)}`
      : 'Bytes arrived'
  const many = Number(requests) > 1 ? ` in ${Number(requests)} requests` : ''
  return {
    title,
    text: `${formatBytes(to - from)} confirmed${many}${why ? `, then ${why}` : ''}`,
    tone: why ? 'warn' : 'plain',
  }
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
  return typeof detail.reason === 'string' && detail.reason ? detail.reason : undefined
}
