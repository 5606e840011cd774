import type { TusRequest } from './keep-going.ts'
import type { UploadToken } from './tokens.ts'

/**
 * `queued`: it has not had its turn. `waiting`: something passing is waited for, and it goes on by itself. `missing`: it was begun
 * before a reload that the browser did not keep its file over; picking the same file again goes on.
 */
export type UploadState = 'queued' | 'uploading' | 'waiting' | 'paused' | 'failed' | 'done' | 'missing'

export type FileUpload = {
  id: string
  name: string
  /** Where it was in a folder, `photos/2026/one.jpg`. */
  path?: string
  type: string
  size: number
  state: UploadState
  sentBytes: number
  /** Why it waits, or why it failed. */
  reason?: string
  /** The browser could not read it, so there is nothing to try again. */
  unreadable?: boolean
  /** Sluice's id of the file, once it has one: as in the webhook's `file_id`. */
  fileId?: string
  /** What your backend answered about the finished file, if the Pipe has a `before_complete` hook. */
  result?: unknown
}

export type UploadOptions = {
  /** Where your backend gives upload tokens; `/api/upload-token` if left out. */
  tokenUrl?: string
  /** Instead of `tokenUrl`. What it throws is tried again, except an `UploadFailure` with a status that does not pass. */
  getToken?(): Promise<UploadToken>
  /** Uploads of another place or person are not gone on with: `avatar`, or the id of whoever is signed in. */
  place?: string
  /** How many files upload at a time; 3 if left out. */
  parallel?: number
  /**
   * How much the browser keeps of unfinished files over a reload, in all; 1 GiB if left out. A file that has no room is picked again, and
   * goes on. With 0 every visit starts over.
   */
  keepBytes?: number
  onDone?(upload: FileUpload): void
  onFailed?(upload: FileUpload): void
  transport?: Transport
}

/** How requests are made and answered, for tools and tests. */
export type Transport = {
  fetch?: typeof globalThis.fetch
  /** Of one request; as large as the file if left out. */
  chunkBytes?: number
  /** Held up just before it is sent; with an aborted signal it is not sent after all. */
  beforeSend?(request: TusRequest, signal: AbortSignal): Promise<void>
  onAnswer?(answer: Answered): void
}

export type Answered = { method: string; url: string; status: number; offset: number | undefined }

export const isOver = ({ state }: FileUpload): boolean => state === 'done' || state === 'failed'
