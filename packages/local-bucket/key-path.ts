import { readdir, realpath } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { S3Error } from './s3-error.ts'

const MAX_NAME_BYTES = 255
const CONTINUES = '%+'

/**
 * Converts object keys to file paths and back. A key looks like its path, except for what a file system cannot
 * represent:
 * - an empty segment is `%`; `.` and `..` are `%2E` and `%2E%2E`;
 * - a control character is `%XX`, and so is a percent sign that would otherwise be read as one of these escapes;
 * - a segment too long for a file name is split into pieces, each but the last ending in `%+`. No key leads out of
 *   its folder, because no path built here has a `..` segment, an empty one, or NUL.
 */
export function keyToPath(key: string): string {
  if (!key.isWellFormed()) throw new S3Error('InvalidURI')
  return key
    .split('/')
    .flatMap((segment) => pieces(escapeCharacters(segment)).map(safeName))
    .join('/')
}

/** Decodes one file or folder name; the caller joins the pieces of a segment. */
export function decodeName(name: string): { text: string; continues: boolean } {
  const continues = name.endsWith(CONTINUES)
  const encoded = continues ? name.slice(0, -CONTINUES.length) : name
  if (encoded === '%' && !continues) return { text: '', continues }
  const text = encoded.replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { text, continues }
}

function escapeCharacters(segment: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: file names must not contain these
  return segment.replace(/[\u0000-\u001f\u007f]|%(?=[0-9A-F]{2}|\+)/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
}

/**
 * Escapes names that a file system reserves. Called after splitting, because the last piece of a long segment can also
 * be `..`.
 */
function safeName(name: string): string {
  if (name === '') return '%'
  if (name === '%') return '%25'
  return name === '.' || name === '..' ? name.replaceAll('.', '%2E') : name
}

/** Splits between characters and between escapes, so that each piece can be decoded separately. */
function pieces(encoded: string): string[] {
  if (Buffer.byteLength(encoded) <= MAX_NAME_BYTES) return [encoded]
  const cut = ['']
  let left = MAX_NAME_BYTES - CONTINUES.length
  for (const [unit] of encoded.matchAll(/%[0-9A-F]{2}|./gsu)) {
    const bytes = Buffer.byteLength(unit)
    if (bytes > left) {
      cut.push('')
      left = MAX_NAME_BYTES - CONTINUES.length
    }
    cut[cut.length - 1] += unit
    left -= bytes
  }
  return cut.map((piece, n) => (n < cut.length - 1 ? piece + CONTINUES : piece))
}

interface Wanted {
  prefix: string
  after: string
}

interface Entry {
  /** Ends in a slash if it is a folder. */
  name: string
  path: string
  isFolder: boolean
}

/** Yields the keys below a folder in S3 order (by UTF-8 bytes). Reads only folders that can contain matching keys. */
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

/** Joins the pieces of a split segment into one entry, which must be sorted by its full name. */
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

/** A folder that was removed in the meantime has no entries. */
async function readFolder(folder: string) {
  return readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
}

/** True if a symlink makes one of the bucket's paths lead out of its folder. */
export async function leadsOut(directory: string, path: string): Promise<boolean> {
  const [folder, real] = await Promise.all([realpath(directory), realOf(path)])
  return real !== folder && !real.startsWith(folder + sep)
}

/** Resolves the existing part of a path, because the file may not have been created yet. */
async function realOf(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    return realOf(dirname(path))
  }
}
