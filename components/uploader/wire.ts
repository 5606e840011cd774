import type { Answered, FileUpload } from '#packages/react/src/index.ts'

/** Requests and responses for the latest upload, as the browser sees them. */
export type WireLine = { id: number; at: number; text: string; tone: 'plain' | 'good' | 'bad' }
export type Wire = {
  /** The upload's id, which is also the file's. */
  fileId: string | undefined
  filename: string
  totalBytes: number
  sentBytes: number
  /** The bytes confirmed by the server. */
  confirmedBytes: number
  /** The bytes that did not have to be sent again. */
  savedBytes: number
  resumes: number
  /** Why it is waiting, if the cause is temporary. */
  waiting: string | undefined
  done: boolean
  /** Whether it ended without completing. */
  failed: boolean
  lines: WireLine[]
}

export const SILENT: Wire = {
  fileId: undefined,
  filename: '',
  totalBytes: 0,
  sentBytes: 0,
  confirmedBytes: 0,
  savedBytes: 0,
  resumes: 0,
  waiting: undefined,
  done: false,
  failed: false,
  lines: [],
}

const MAX_LINES = 60

/** A HEAD that returns an offset is a resume: the bytes before that offset are saved. */
export function afterAnswer(wire: Wire, { method, url, status, offset }: Answered, at: number): Wire {
  const resumed = method === 'HEAD' && status === 200 && offset !== undefined
  const next: Wire = {
    ...wire,
    fileId: fileIdOf(url) ?? wire.fileId,
    confirmedBytes: Math.max(offset ?? 0, wire.confirmedBytes),
    sentBytes: resumed ? offset : wire.sentBytes,
    resumes: wire.resumes + (resumed ? 1 : 0),
    savedBytes: resumed ? offset : wire.savedBytes,
  }
  const told = offset === undefined ? '' : `, confirmed ${offset.toLocaleString('en-US')}`
  return note(next, `${method} → ${status}${told}`, status < 400 ? (resumed ? 'good' : 'plain') : 'bad', at)
}

/** Applies the state that the uploader reported, and adds a line for a new error or reason to wait. */
export function afterUpload(
  wire: Wire,
  { name, size, state, sentBytes, reason }: FileUpload,
  at: number,
): Wire {
  const done = state === 'done'
  const next: Wire = {
    ...wire,
    filename: name,
    totalBytes: size,
    sentBytes,
    waiting: state === 'waiting' ? reason : undefined,
    done,
    failed: state === 'failed',
    confirmedBytes: done ? size : wire.confirmedBytes,
  }
  const said = next.failed && !wire.failed ? reason : next.waiting !== wire.waiting ? next.waiting : undefined
  return said ? note(next, said, 'bad', at) : next
}

export function note(wire: Wire, text: string, tone: WireLine['tone'], at: number): Wire {
  const id = (wire.lines.at(-1)?.id ?? 0) + 1
  return { ...wire, lines: [...wire.lines, { id, at, text, tone }].slice(-MAX_LINES) }
}

function fileIdOf(url: string): string | undefined {
  return url.match(/\/files\/([0-9a-f-]{36})/)?.[1]
}
