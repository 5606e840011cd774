import type { UnreadableFile } from './dropped-files.ts'
import type { FileChecksum } from './file-checksum.ts'
import type { FileUpload } from './file-upload.ts'
import type { Hold } from './hold-upload.ts'
import type { KeptUpload } from './kept-uploads.ts'

/** An upload of the list, with what its page needs to send it. */
export type Entry = {
  upload: FileUpload
  file: File | undefined
  lastModified: number
  url: string | undefined
  /** Once it has had its turn. */
  checksum: FileChecksum | undefined
  /** How much the browser keeps of the file. */
  keptBytes: number
  stop: (() => void) | undefined
  /** While the uploads are open. */
  hold: Promise<Hold | undefined> | undefined
}

const IDLE = { checksum: undefined, stop: undefined, hold: undefined }

export function entryOf(file: File): Entry {
  const id = newId()
  const { name, type, size, lastModified, webkitRelativePath } = file
  const upload: FileUpload = { id, name, type, size, state: 'queued', sentBytes: 0 }
  if (webkitRelativePath) upload.path = webkitRelativePath
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
  { id, name, path, type, size, ...kept }: KeptUpload,
  file: File | undefined,
  hold: Hold,
): Entry {
  const state = !file ? 'missing' : kept.paused ? 'paused' : 'queued'
  return {
    ...IDLE,
    upload: { id, name, path, type, size, state, sentBytes: 0 },
    file,
    lastModified: kept.lastModified,
    url: kept.url,
    keptBytes: file ? size : 0,
    hold: Promise.resolve(hold),
  }
}

/** `crypto.randomUUID` is missing from pages without TLS. */
function newId(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
