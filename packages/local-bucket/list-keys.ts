import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { decodeName } from './key-path.ts'

interface Wanted {
  prefix: string
  after: string
}

interface Entry {
  /** For a folder with a slash at its end. */
  name: string
  path: string
  isFolder: boolean
}

/** The keys under a folder in the order of S3 (by UTF-8 bytes), looking only into folders that can hold wanted ones. */
export async function* listKeys(folder: string, wanted: Wanted, above = ''): AsyncGenerator<string> {
  const entries = await readEntries(folder, '')
  entries.sort((a, b) => compareKeys(a.name, b.name))
  for (const { name, path, isFolder } of entries) {
    const key = above + name
    if (isFolder) {
      const mayHold = key.startsWith(wanted.prefix) || wanted.prefix.startsWith(key)
      const isPast = compareKeys(key, wanted.after) <= 0 && !wanted.after.startsWith(key)
      if (mayHold && !isPast) yield* listKeys(path, wanted, key)
    } else if (key.startsWith(wanted.prefix) && compareKeys(key, wanted.after) > 0) yield key
  }
}

export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b))
}

/** A segment that was cut in pieces is one entry again: it must be sorted by its whole name. */
async function readEntries(folder: string, begun: string): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const entry of await readFolder(folder)) {
    const { text, continues } = decodeName(entry.name)
    const path = join(folder, entry.name)
    if (continues && entry.isDirectory()) entries.push(...(await readEntries(path, begun + text)))
    else if (entry.isDirectory()) entries.push({ name: `${begun}${text}/`, path, isFolder: true })
    else if (entry.isFile()) entries.push({ name: begun + text, path, isFolder: false })
  }
  return entries
}

/** A folder that went meanwhile holds nothing. */
async function readFolder(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}
