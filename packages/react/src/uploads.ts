import type { UnreadableFile } from './dropped-files.ts'
import type { FileUpload, UploadOptions, UploadState } from './file-upload.ts'
import { findMissing } from './find-missing.ts'
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
  hold: Promise<Hold | undefined> | undefined
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
      hold: entry.hold,
      url: entry.url,
      tokens,
      transport,
      onUrl: (url) => noteUrl(entry, url),
      onLateUrl(url) {
        // Paused while it was created: it goes on there, unless it was created again since.
        const goesOn = isOpen && entries.includes(entry) && !entry.stop && !entry.url
        if (goesOn) noteUrl(entry, url)
        else void deleteUpload(url, tokens, transport)
      },
      onProgress(sentBytes) {
        const moves = sentBytes > entry.upload.sentBytes || entry.upload.state !== 'waiting'
        change(entry, moves ? { sentBytes, state: 'uploading', reason: undefined } : { sentBytes })
      },
      onWait: (reason) => change(entry, { state: 'waiting', reason }),
      onDone() {
        void forget(entry)
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

  function noteUrl(entry: Entry, url: string): void {
    entry.url = url
    change(entry, { fileId: url.split('/').at(-1) })
    void kept.note(entry.upload.id, { url })
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

  /** Nobody may take it over before it is gone. */
  async function forget(entry: Entry): Promise<void> {
    entry.keptBytes = 0
    await kept.remove(entry.upload.id)
    letGo(entry)
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

  function add(files: Iterable<File>): void {
    for (const file of files) {
      const missing = findMissing(entries, file)
      if (missing) {
        missing.file = file
        keep(missing)
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

  /** Lists what could not be read as failed. */
  function addUnreadable(unreadable: readonly UnreadableFile[], reason: string): void {
    const failed = unreadable.map((file) => unreadableEntry(file, reason))
    entries = entries.concat(failed)
    tell()
    for (const { upload } of failed) options.onFailed?.(upload)
  }

  function goOn(id: string, from: UploadState): void {
    const entry = entryWith(id)
    if (entry?.upload.state !== from || entry.upload.unreadable) return
    change(entry, { state: 'queued', reason: undefined })
    void kept.note(id, { paused: false })
    next()
  }

  const entryWith = (id: string) => entries.find(({ upload }) => upload.id === id)

  /** Those that an earlier page left; what another tab or list has, when that is closed. */
  async function restore(closed: AbortSignal): Promise<void> {
    const left = keepBytes > 0 ? await kept.ids(place) : []
    for (const id of left) if (!entryWith(id)) void takeOver(id, closed)
  }

  async function takeOver(id: string, closed: AbortSignal): Promise<void> {
    const hold = await holdUpload(id, closed)
    if (!hold) return
    // Read now: whoever had it may have come further, or to its end.
    const found = await kept.find(id)
    if (!found || closed.aborted || entryWith(id)) return hold()
    entries = [...entries, keptEntry(found.upload, found.file, hold)]
    tell()
    next()
  }

  return {
    uploads: () => uploads,
    watch(watcher: () => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    /** Begins, with what an earlier page left. What is returned stops all of it where it is. */
    open(): () => void {
      const closed = new AbortController()
      isOpen = true
      for (const entry of entries)
        if (entry.upload.state !== 'done' && !entry.upload.unreadable)
          entry.hold ??= holdUpload(entry.upload.id)
      void restore(closed.signal)
      next()
      return () => {
        isOpen = false
        closed.abort()
        for (const entry of entries) {
          if (entry.stop) change(entry, { state: 'queued', reason: undefined })
          halt(entry)
          letGo(entry)
        }
      }
    },
    add,
    addUnreadable,
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
      void forget(entry)
      if (entry.url && entry.upload.state !== 'done') void deleteUpload(entry.url, tokens, transport)
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

function unreadableEntry({ name, path }: UnreadableFile, reason: string): Entry {
  const upload: FileUpload = {
    id: newId(),
    name,
    path,
    type: '',
    size: 0,
    state: 'failed',
    sentBytes: 0,
    reason,
    unreadable: true,
  }
  return {
    upload,
    file: undefined,
    lastModified: 0,
    url: undefined,
    keptBytes: 0,
    stop: undefined,
    hold: undefined,
  }
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
