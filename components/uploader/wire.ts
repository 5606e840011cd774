import type { Answered, FileUpload } from '#packages/react/src/index.ts'

/** Requests and responses for the latest upload, as the browser sees them. */
export type WireLine = {
  id: number
  at: number
  text: string
  tone: 'plain' | 'good' | 'bad'
  /** How many PATCH requests in a row succeeded. They share a line, or everything else would go out of sight. */
  requests: number
}
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

export const isUnderWay = ({ totalBytes, done, failed }: Wire) => totalBytes > 0 && !done && !failed

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
  const tone = status < 400 ? (resumed ? 'good' : 'plain') : 'bad'
  const requests = method === 'PATCH' && status < 400 ? (wire.lines.at(-1)?.requests ?? 0) + 1 : 0
  return note(next, `${method} → ${status}${told}`, tone, at, requests)
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

export function note(wire: Wire, text: string, tone: WireLine['tone'], at: number, requests = 0): Wire {
  const before = requests > 1 ? wire.lines.slice(0, -1) : wire.lines
  const id = (before.at(-1)?.id ?? 0) + 1
  const line = { id, at, text: requests > 1 ? `${requests} × ${text}` : text, tone, requests }
  return { ...wire, lines: [...before, line].slice(-MAX_LINES) }
}

function fileIdOf(url: string): string | undefined {
  return url.match(/\/files\/([0-9a-f-]{36})/)?.[1]
}
