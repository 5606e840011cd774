import type { UnreadableFile } from './dropped-files.ts'
import type { FileChecksum } from './file-checksum.ts'
import type { FileUpload } from './file-upload.ts'
import type { Hold } from './hold-upload.ts'
import type { KeptUpload } from './kept-uploads.ts'

/** A listed upload, with everything that the page needs to send it. */
export type Entry = {
  upload: FileUpload
  file: File | undefined
  lastModified: number
  url: string | undefined
  /** Set when the upload starts. */
  checksum: FileChecksum | undefined
  /** How many bytes of the file the browser keeps across a reload. */
  keptBytes: number
  stop: (() => void) | undefined
  /** The upload's lock, while this list is open. */
  hold: Promise<Hold | undefined> | undefined
}

const IDLE = { checksum: undefined, stop: undefined, hold: undefined }

export function entryOf(file: File, batch?: string): Entry {
  const id = newId()
  const { name, type, size, lastModified, webkitRelativePath } = file
  const upload: FileUpload = { id, name, type, size, state: 'queued', sentBytes: 0 }
  if (webkitRelativePath) upload.path = webkitRelativePath
  if (batch !== undefined) upload.batch = batch
  return { ...IDLE, upload, file, lastModified, url: undefined, keptBytes: 0 }
}

export function unreadableEntry({ name, path }: UnreadableFile, reason: string): Entry {
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
    ...IDLE,
    upload,
    file: undefined,
    lastModified: 0,
    url: undefined,
    keptBytes: 0,
  }
}

export function keptEntry(
  { id, name, path, batch, type, size, ...kept }: KeptUpload,
  file: File | undefined,
  hold: Hold,
): Entry {
  const state = !file ? 'missing' : kept.paused ? 'paused' : 'queued'
  return {
    ...IDLE,
    upload: { id, name, path, batch, type, size, state, sentBytes: 0, fileId: fileIdOf(kept.url) },
    file,
    lastModified: kept.lastModified,
    url: kept.url,
    keptBytes: file ? size : 0,
    hold: Promise.resolve(hold),
  }
}

/** What is sent with the file when its upload is created. */
export function metadataOf({
  name,
  type,
  path,
  batch,
}: Pick<FileUpload, 'name' | 'type' | 'path' | 'batch'>) {
  return { filename: name, filetype: type, ...(path && { relativePath: path }), ...(batch && { batch }) }
}

export function fileIdOf(url: string | undefined): string | undefined {
  return url?.split('/').at(-1)
}

/** `crypto.randomUUID` is missing on pages without TLS. */
export function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}

export type Known = { upload: FileUpload; lastModified: number }

/**
 * Finds the upload waiting for this file to be picked again. Folders contain files with the same name, size and time,
 * so paths are compared too, unless the file was picked without its folder and only one upload matches.
 */
export function findMissing<Entry extends Known>(entries: readonly Entry[], file: File): Entry | undefined {
  const alike = entries.filter(
    ({ upload: { state, name, size }, lastModified }) =>
      state === 'missing' && name === file.name && size === file.size && lastModified === file.lastModified,
  )
  const path = file.webkitRelativePath || undefined
  const same = alike.find(({ upload }) => upload.path === path)
  return same ?? (path === undefined && alike.length === 1 ? alike[0] : undefined)
}

/** How many files are added at a time: a few milliseconds of work on a slow machine. */
const AT_ONCE = 50

/**
 * Processes a long list in slices, one after another, and lets the page respond in between. The first slice is
 * processed immediately.
 */
export async function inSlices<Item>(
  items: readonly Item[],
  act: (some: readonly Item[]) => unknown,
): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) {
    if (at > 0) await nextTask()
    await act(items.slice(at, at + AT_ONCE))
  }
}

/** Does not use a timer: in a hidden page, timers run once per second. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })
}
