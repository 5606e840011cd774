import { createBatches } from './batches.ts'
import { CONNECTIONS, PARALLEL } from './connections.ts'
import type { UnreadableFile } from './dropped-files.ts'
import {
  type Entry,
  entryOf,
  fileIdOf,
  findMissing,
  inSlices,
  metadataOf,
  unreadableEntry,
} from './entries.ts'
import { failsAgain } from './failure.ts'
import { FileChecksum } from './file-checksum.ts'
import type { FileUpload, UploadOptions, UploadState } from './file-upload.ts'
import { holdUpload } from './hold-upload.ts'
import { openKeptUploads } from './kept-uploads.ts'
import { restoreUploads } from './restore-uploads.ts'
import { deleteUpload, SMALL_BYTES, sendFile } from './send-file.ts'
import { tokensFor } from './tokens.ts'

/**
 * A page's uploads: sends a few at a time, each until it has ended, across reloads. It does not depend on React, and
 * reports each change to its watchers.
 */
export { Failure as UploadFailure } from './failure.ts'
export type Uploads = ReturnType<typeof createUploads>

const KEEP_BYTES = 1024 ** 3
const DEFAULT_PLACE = 'default'
/** Changes within a frame are reported together. */
const FRAME_MS = 16
/** Distinguishes uploads added at the same time, so that they are listed in the same order after a reload. */
const ORDER_MS = 0.001

export function createUploads(options: UploadOptions = {}) {
  const { connections = CONNECTIONS, keepBytes = KEEP_BYTES } = options
  const { place = DEFAULT_PLACE, transport = {} } = options
  const tokens = tokensFor(options)
  const kept = openKeptUploads()
  const batches = createBatches({ tokens, kept, transport })
  const watchers = new Set<() => void>()
  const entries = new Map<string, Entry>()
  let isTelling = false
  /** Undefined once something has changed. */
  let uploads: readonly FileUpload[] | undefined
  let isOpen = false
  let wasClosed = false
  let newestMs = 0

  function tell(): void {
    uploads = undefined
    for (const watcher of watchers) watcher()
  }

  /** With hundreds of small files, the page would otherwise be drawn for each of thousands of changes. */
  function tellSoon(): void {
    uploads = undefined
    if (isTelling) return
    isTelling = true
    setTimeout(() => {
      isTelling = false
      tell()
      next()
    }, FRAME_MS)
  }

  function change(entry: Entry, changed: Partial<FileUpload>): void {
    entry.upload = { ...entry.upload, ...changed }
    tellSoon()
  }

  function halt(entry: Entry): void {
    entry.stop?.()
    entry.stop = undefined
  }

  const underWay = () => [...entries.values()].filter(({ stop }) => stop).length
  const lines = { connections, share: () => Math.max(1, Math.floor(connections / underWay())) }

  function next(): void {
    if (!isOpen) return
    let begun = underWay()
    for (const entry of entries.values()) {
      const { state, size } = entry.upload
      if (state !== 'queued' || !entry.file) continue
      if (begun >= (options.parallel ?? (size > SMALL_BYTES ? PARALLEL : connections))) continue
      begun += 1
      begin(entry)
    }
  }

  function begin(entry: Entry): void {
    change(entry, { state: 'uploading', ...NO_REASON })
    entry.checksum ??= new FileChecksum(entry.file!)
    entry.stop = sendFile({
      file: entry.file!,
      checksum: entry.checksum,
      key: entry.upload.id,
      metadata: metadataOf(entry.upload),
      hold: entry.hold,
      url: entry.url,
      tokens,
      transport,
      lines,
      onUrl: (url) => noteUrl(entry, url),
      onLateUrl(url) {
        // The upload was stopped during its creation. It continues at that address, which a repeated creation also
        // returns, unless it was canceled.
        if (!entries.has(entry.upload.id)) void deleteUpload(url, tokens, transport)
        else if (!entry.url) noteUrl(entry, url)
      },
      onProgress(sentBytes) {
        const moves = sentBytes > entry.upload.sentBytes || entry.upload.state !== 'waiting'
        change(entry, moves ? { sentBytes, state: 'uploading', ...NO_REASON } : { sentBytes })
      },
      onWait: (reason) => change(entry, { state: 'waiting', ...reason }),
      onDone(result) {
        void forget(entry)
        const { size } = entry.upload
        end(entry, {
          state: 'done',
          sentBytes: size,
          ...NO_REASON,
          ...(result !== undefined && { result }),
        })
        options.onDone?.(entry.upload)
      },
      onFail(reason) {
        // A retry reads the file from the start, regardless of why the upload failed.
        entry.checksum = undefined
        end(entry, { state: 'failed', ...reason })
        if (!entry.url && failsAgain(entry.upload)) void forget(entry)
        // After a reload, the upload stays paused until the user, who may first have to sign in again, resumes it.
        else void kept.note(entry.upload.id, { paused: true })
        options.onFailed?.(entry.upload)
      },
    })
  }

  function noteUrl(entry: Entry, url: string): void {
    entry.url = url
    change(entry, { fileId: fileIdOf(url) })
    void kept.note(entry.upload.id, { url })
    batches.look(entry.upload.batch, entries.values())
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

  /** Deletes the stored upload before releasing its lock, so that no other tab takes it over. */
  async function forget(entry: Entry): Promise<void> {
    entry.keptBytes = 0
    await batches.sealed(entry.upload.batch)
    await kept.remove(entry.upload.id)
    letGo(entry)
    // The batch may have waited for this upload alone.
    batches.look(entry.upload.batch, entries.values())
  }

  function keep(added: readonly Entry[]): void {
    if (keepBytes === 0) return
    let used = 0
    for (const { keptBytes } of entries.values()) used += keptBytes
    const keeping = added.map((entry) => {
      const { id, name, path, batch, type, size } = entry.upload
      const hasRoom = used + size <= keepBytes
      entry.keptBytes = hasRoom ? size : 0
      used += entry.keptBytes
      const { lastModified, url } = entry
      newestMs = Math.max(Date.now(), newestMs + ORDER_MS)
      const upload = { id, place, name, path, batch, type, size, lastModified, url, addedMs: newestMs }
      return { upload, file: hasRoom ? entry.file : undefined }
    })
    void kept.add(keeping)
  }

  function add(files: Iterable<File>): void {
    // Copied now, because the list is emptied together with the file input.
    const list = [...files]
    if (list.length === 0) return
    const batch = options.batch?.(list)
    const added = batches.begin(batch)
    void inSlices(list, (some) => {
      const missing = [...entries.values()].filter(({ upload }) => upload.state === 'missing')
      keep(some.map((file) => goOnWith(file, missing) ?? enlist(entryOf(file, batch))))
      tell()
      next()
    }).then(() => {
      added()
      batches.look(batch, entries.values())
    })
  }

  function goOnWith(file: File, missing: readonly Entry[]): Entry | undefined {
    const entry = findMissing(missing, file)
    if (!entry) return undefined
    entry.file = file
    entry.upload = { ...entry.upload, state: 'queued' }
    return entry
  }

  function enlist(entry: Entry): Entry {
    entries.set(entry.upload.id, entry)
    if (!wasClosed) entry.hold ??= holdUpload(entry.upload.id)
    return entry
  }

  /** Lists unreadable entries as failed. */
  function addUnreadable(unreadable: readonly UnreadableFile[], reason: string): void {
    void inSlices(unreadable, (some) => {
      const failed = some.map((file) => unreadableEntry(file, reason))
      for (const entry of failed) entries.set(entry.upload.id, entry)
      tell()
      for (const { upload } of failed) options.onFailed?.(upload)
    })
  }

  function goOn(id: string, from: UploadState): void {
    const entry = entries.get(id)
    if (entry?.upload.state !== from || entry.upload.unreadable) return
    change(entry, { state: 'queued', ...NO_REASON })
    void kept.note(id, { paused: false })
    next()
  }

  function isListed(id: string): boolean {
    return entries.has(id)
  }

  function list(entry: Entry): void {
    entries.set(entry.upload.id, entry)
    tellSoon()
  }

  return {
    uploads: (): readonly FileUpload[] => (uploads ??= Array.from(entries.values(), ({ upload }) => upload)),
    watch(watcher: () => void): () => void {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    /** Starts the uploads, including those of an earlier page. The returned function stops all of them. */
    open(): () => void {
      const closed = new AbortController()
      isOpen = true
      wasClosed = false
      for (const entry of entries.values())
        if (entry.upload.state !== 'done' && !entry.upload.unreadable)
          entry.hold ??= holdUpload(entry.upload.id)
      if (keepBytes > 0) void restoreUploads({ kept, place, closed: closed.signal, isListed, list })
      next()
      return () => {
        isOpen = false
        wasClosed = true
        closed.abort()
        for (const entry of entries.values()) {
          if (entry.stop) change(entry, { state: 'queued', ...NO_REASON })
          halt(entry)
          letGo(entry)
        }
      }
    },
    add,
    addUnreadable,
    /**
     * Makes the next request fetch a new token, because the permitted uploads have changed, for example after a
     * sign-in.
     */
    renewToken: tokens.forget,
    pause(id: string): void {
      const entry = entries.get(id)
      if (!entry || !PAUSABLE.includes(entry.upload.state)) return
      halt(entry)
      change(entry, { state: 'paused', ...NO_REASON })
      void kept.note(id, { paused: true })
      next()
    },
    resume: (id: string) => goOn(id, 'paused'),
    retry: (id: string) => goOn(id, 'failed'),
    /** Removes an upload from the list. If it is unfinished, it is also canceled on the server. */
    cancel(id: string): void {
      const entry = entries.get(id)
      if (!entry) return
      halt(entry)
      entries.delete(id)
      void forget(entry)
      if (entry.url && entry.upload.state !== 'done') void deleteUpload(entry.url, tokens, transport)
      tell()
      next()
    },
  }
}

const NO_REASON = { reason: undefined, code: undefined, status: undefined }
const PAUSABLE: string[] = ['queued', 'uploading', 'waiting']
