import type { FileUpload, UploadOptions, UploadState } from './file-upload.ts'
import { type Hold, holdUpload } from './hold-upload.ts'
import { type KeptUpload, openKeptUploads } from './kept-uploads.ts'
import { deleteUpload, sendFile } from './send-file.ts'
import { askBackend, createTokens } from './tokens.ts'

/**
 * The uploads of a page: a few at a time, each until its end, over reloads. It knows nothing of React, and tells whoever
 * watches of each change.
 */
export { Failure as UploadFailure } from './failure.ts'
export type Uploads = ReturnType<typeof createUploads>

type Entry = {
  upload: FileUpload
  file: File | undefined
  lastModified: number
  url: string | undefined
  /** How much the browser keeps of the file. */
  keptBytes: number
  stop: (() => void) | undefined
  /** While the uploads are open. */
  hold: Promise<Hold> | undefined
}

const PARALLEL = 3
const KEEP_BYTES = 1024 ** 3
const DEFAULT_PLACE = 'default'

export function createUploads(options: UploadOptions = {}) {
  const { parallel = PARALLEL, keepBytes = KEEP_BYTES, place = DEFAULT_PLACE, transport = {} } = options
  const askHere = () => askBackend(options.tokenUrl ?? '/api/upload-token', transport.fetch ?? fetch)
  const tokens = createTokens(options.getToken ?? askHere)
  const kept = openKeptUploads()
  const watchers = new Set<() => void>()
  let entries: Entry[] = []
  let uploads: readonly FileUpload[] = []
  let isOpen = false

  function tell(): void {
    uploads = entries.map(({ upload }) => upload)
    for (const watcher of watchers) watcher()
  }

  function change(entry: Entry, changed: Partial<FileUpload>): void {
    entry.upload = { ...entry.upload, ...changed }
    tell()
  }

  function halt(entry: Entry): void {
    entry.stop?.()
    entry.stop = undefined
  }

  function next(): void {
    if (!isOpen) return
    const free = parallel - entries.filter(({ stop }) => stop).length
    const ready = entries.filter(({ upload, file }) => upload.state === 'queued' && file)
    for (const entry of ready.slice(0, Math.max(free, 0))) begin(entry)
  }

  function begin(entry: Entry): void {
    change(entry, { state: 'uploading', reason: undefined })
    entry.stop = sendFile({
      file: entry.file!,
      url: entry.url,
      tokens,
      transport,
      onUrl(url) {
        entry.url = url
        change(entry, { fileId: url.split('/').at(-1) })
        void kept.note(entry.upload.id, { url })
      },
      onProgress(sentBytes) {
        const moves = sentBytes > entry.upload.sentBytes || entry.upload.state !== 'waiting'
        change(entry, moves ? { sentBytes, state: 'uploading', reason: undefined } : { sentBytes })
      },
      onWait: (reason) => change(entry, { state: 'waiting', reason }),
      onDone() {
        forget(entry)
        end(entry, { state: 'done', sentBytes: entry.upload.size, reason: undefined })
        options.onDone?.(entry.upload)
      },
      onFail(reason) {
        // After a reload it waits for its user, who may be signed in again.
        void kept.note(entry.upload.id, { paused: true })
        end(entry, { state: 'failed', reason })
        options.onFailed?.(entry.upload)
      },
    })
  }

  function end(entry: Entry, changed: Partial<FileUpload>): void {
    entry.stop = undefined
    change(entry, changed)
    next()
  }

  function letGo(entry: Entry): void {
    void entry.hold?.then((release) => release?.())
    entry.hold = undefined
  }

  function forget(entry: Entry): void {
    entry.keptBytes = 0
    void kept.remove(entry.upload.id)
  }

  function keep(entry: Entry): void {
    if (keepBytes === 0) return
    const { id, name, path, type, size } = entry.upload
    const used = entries.reduce((sum, { keptBytes }) => sum + keptBytes, 0)
    entry.keptBytes = used + size <= keepBytes ? size : 0
    const { lastModified, url } = entry
    const upload = { id, place, name, path, type, size, lastModified, url, addedMs: Date.now() }
    void kept.add(upload, entry.keptBytes === size ? entry.file : undefined)
  }

  /** The same file, picked again after a reload. */
  function missingOf(file: File): Entry | undefined {
    return entries.find(
      ({ upload, lastModified }) =>
        upload.state === 'missing' &&
        upload.name === file.name &&
        upload.size === file.size &&
        lastModified === file.lastModified,
    )
  }

  function add(files: Iterable<File>): void {
    for (const file of files) {
      const missing = missingOf(file)
      if (missing) {
        missing.file = file
        change(missing, { state: 'queued' })
        continue
      }
      const entry = entryOf(file)
      entries = [...entries, entry]
      keep(entry)
    }
    tell()
    next()
  }

  function goOn(id: string, from: UploadState): void {
    const entry = entryWith(id)
    if (entry?.upload.state !== from) return
    change(entry, { state: 'queued', reason: undefined })
    void kept.note(id, { paused: false })
    next()
  }

  const entryWith = (id: string) => entries.find(({ upload }) => upload.id === id)

  /** Those that an earlier page left, unless another tab has them. */
  async function restore(): Promise<void> {
    const left = keepBytes > 0 ? await kept.all(place) : []
    for (const { upload, file } of left) {
      if (entryWith(upload.id)) continue
      const hold = await holdUpload(upload.id)
      if (!hold) continue
      if (!isOpen || entryWith(upload.id)) {
        hold()
        continue
      }
      entries = [...entries, keptEntry(upload, file, hold)]
      tell()
      next()
    }
  }

  return {
    uploads: () => uploads,
    watch(watcher: () => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    /** Begins, with what an earlier page left. What is returned stops all of it where it is. */
    open(): () => void {
      isOpen = true
      for (const entry of entries) entry.hold ??= holdUpload(entry.upload.id)
      void restore()
      next()
      return () => {
        isOpen = false
        for (const entry of entries) {
          if (entry.stop) change(entry, { state: 'queued', reason: undefined })
          halt(entry)
          letGo(entry)
        }
      }
    },
    add,
    pause(id: string): void {
      const entry = entryWith(id)
      if (!entry || !PAUSABLE.includes(entry.upload.state)) return
      halt(entry)
      change(entry, { state: 'paused', reason: undefined })
      void kept.note(id, { paused: true })
      next()
    },
    resume: (id: string) => goOn(id, 'paused'),
    retry: (id: string) => goOn(id, 'failed'),
    /** Takes it off the list. An upload that is not over is given up, at the server as well. */
    cancel(id: string): void {
      const entry = entryWith(id)
      if (!entry) return
      halt(entry)
      entries = entries.filter((other) => other !== entry)
      forget(entry)
      if (entry.url && entry.upload.state !== 'done') void deleteUpload(entry.url, tokens, transport)
      letGo(entry)
      tell()
      next()
    },
  }
}

const PAUSABLE: string[] = ['queued', 'uploading', 'waiting']

function entryOf(file: File): Entry {
  const id = newId()
  const { name, type, size, lastModified, webkitRelativePath } = file
  const upload: FileUpload = { id, name, type, size, state: 'queued', sentBytes: 0 }
  if (webkitRelativePath) upload.path = webkitRelativePath
  return { upload, file, lastModified, url: undefined, keptBytes: 0, stop: undefined, hold: holdUpload(id) }
}

function keptEntry(
  { id, name, path, type, size, ...kept }: KeptUpload,
  file: File | undefined,
  hold: Hold,
): Entry {
  const state = !file ? 'missing' : kept.paused ? 'paused' : 'queued'
  return {
    upload: { id, name, path, type, size, state, sentBytes: 0 },
    file,
    lastModified: kept.lastModified,
    url: kept.url,
    keptBytes: file ? size : 0,
    stop: undefined,
    hold: Promise.resolve(hold),
  }
}

/** `crypto.randomUUID` is missing from pages without TLS. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
