/** More in one go is a mistake rather than an upload. */
const MOST_FILES = 10_000

type Dropped = { files: File[]; faults: unknown[] }

/** The files of a drop, and those of its folders all the way down. What cannot be read takes none of the others along. */
export async function droppedFiles({ items, files }: DataTransfer): Promise<Dropped> {
  // To be asked before anything is awaited: a drop is empty after its event.
  const entries = [...items].map((item) => item.webkitGetAsEntry?.())
  if (entries.every((entry) => !entry)) return { files: [...files], faults: [] }
  const found: Dropped = { files: [], faults: [] }
  for (const entry of entries) {
    if (entry) await collect(entry, found).catch((error) => found.faults.push(error))
  }
  return found
}

async function collect(entry: FileSystemEntry, found: Dropped): Promise<void> {
  if (found.files.length >= MOST_FILES) return
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) =>
      (entry as FileSystemFileEntry).file(resolve, reject),
    )
    found.files.push(withPath(file, entry.fullPath.slice(1)))
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    // A hundred at a time, and none at the end.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    )
    if (some.length === 0) return
    for (const inner of some) await collect(inner, found).catch((error) => found.faults.push(error))
  }
}

/** As a file of a picked folder has it. */
function withPath(file: File, path: string): File {
  if (path.includes('/')) Object.defineProperty(file, 'webkitRelativePath', { value: path })
  return file
}
