/** Dropping more files than this at once is probably a mistake. */
export const MAX_FILES = 10_000

export type UnreadableFile = { name: string; path?: string }

type Dropped = {
  files: File[]
  /** Files and folders that the browser could not read. */
  unreadable: UnreadableFile[]
  /** True if there were more than `MAX_FILES`. */
  hasMore: boolean
}

/** The dropped files, including those in dropped folders at any depth. Unreadable entries do not affect the others. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<Dropped> {
  // Read before the first await, because the items are only available during the event.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.())
  const found: Dropped = { files: [], unreadable: [], hasMore: false }
  if (entries.every((entry) => !entry))
    return { ...found, files: [...files].slice(0, MAX_FILES), hasMore: files.length > MAX_FILES }
  for (const entry of entries) if (entry) await collect(entry, found)
  return found
}

async function collect(entry: FileSystemEntry, found: Dropped): Promise<void> {
  const isFull = found.files.length + found.unreadable.length >= MAX_FILES
  if (isFull && entry.isFile) found.hasMore = true
  if (found.hasMore) return
  const path = entry.fullPath.slice(1)
  try {
    if (entry.isFile) found.files.push(withPath(await fileOf(entry as FileSystemFileEntry), path))
    else await collectFolder(entry as FileSystemDirectoryEntry, found)
  } catch {
    found.unreadable.push({ name: path.split('/').at(-1)!, ...(path.includes('/') && { path }) })
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

async function collectFolder(entry: FileSystemDirectoryEntry, found: Dropped): Promise<void> {
  const reader = entry.createReader()
  for (;;) {
    // Each call returns up to a hundred entries, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return
    for (const inner of some) await collect(inner, found)
  }
}

/** Gives a file its path, as browsers do for the files in a picked folder. */
function withPath(file: File, path: string): File {
  if (path.includes('/')) Object.defineProperty(file, 'webkitRelativePath', { value: path })
  return file
}
