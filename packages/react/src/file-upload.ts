import type { UploadToken } from './tokens.ts'

/**
 * `queued`: other uploads come first. `waiting`: there is a temporary problem, and the upload retries automatically.
 * `missing`: the upload started before a reload, and the browser did not keep its file; picking the same file again
 * continues it.
 */
export type UploadState = 'queued' | 'uploading' | 'waiting' | 'paused' | 'failed' | 'done' | 'missing'

export type FileUpload = {
  id: string
  name: string
  /** The file's path in a folder, such as `photos/2026/one.jpg`. */
  path?: string
  /** The name of the upload's batch, if the `batch` option set one. */
  batch?: string
  type: string
  size: number
  state: UploadState
  sentBytes: number
  /** Why the upload is waiting or has failed, in English or in your backend's words. */
  reason?: string | undefined
  /** What the reason is: one of Sluice's error codes, or `network`, `status`, `no_token` or `file_changed`. */
  code?: string | undefined
  /** The status of the response that the reason is about. */
  status?: number | undefined
  /** True if the browser could not read the file, so that there is nothing to retry. */
  unreadable?: boolean
  /** Sluice's id for the file, once it has one: the webhook's `file_id`. */
  fileId?: string
  /** The result that your backend returned for the finished file, if the Pipe has a `before_complete` hook. */
  result?: unknown
}

export type UploadOptions = {
  /** Where your backend issues upload tokens; defaults to `/api/upload-token`. */
  tokenUrl?: string
  /** Replaces `tokenUrl`. Errors are retried, except an `UploadFailure` with a permanent status. */
  getToken?(): Promise<UploadToken>
  /** A name such as `avatar`, or the signed-in user's id, so that uploads only continue in the same place. */
  place?: string
  /**
   * Names the batch for each drop or selection of files, such as `() => crypto.randomUUID()`, so that your
   * backend is notified when all of the files have arrived. The batch is sealed once each of its uploads has been
   * created, refused or removed from the list. Omit it if your tokens name the batch.
   */
  batch?(files: readonly File[]): string
  /** How many files upload at a time; defaults to 3, and to `connections` for files of up to 1 MiB. */
  parallel?: number
  /**
   * How many connections the uploads use together; defaults to 5. A file of 32 MiB or more is sent over as many of them
   * as make it faster. With 1, each file is sent over one connection.
   */
  connections?: number
  /**
   * How many bytes of unfinished files the browser keeps across a reload, in total; defaults to 1 GiB. A file that does
   * not fit must be picked again to continue. With 0, every visit starts over.
   */
  keepBytes?: number
  onDone?(upload: FileUpload): void
  onFailed?(upload: FileUpload): void
  transport?: Transport
}

/** Intercepts requests and responses, for tools and tests. */
export type Transport = {
  fetch?: typeof globalThis.fetch
  /** The most bytes to send in one request; defaults to the file's size, and to 1 MiB for the request that creates it. */
  chunkBytes?: number | undefined
  /** Called just before a POST or PATCH is sent. If the signal is aborted by then, the request is not sent. */
  beforeSend?(xhr: XMLHttpRequest, method: string, signal: AbortSignal): Promise<void>
  onAnswer?(answer: Answered): void
}

/** `url` and `offset` are those of the file, even if the request was for one of its lanes. */
export type Answered = { method: string; url: string; status: number; offset: number | undefined }

export const isOver = ({ state }: FileUpload): boolean => state === 'done' || state === 'failed'
