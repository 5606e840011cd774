import { invalidRequest } from '../platform/kernel/errors.ts'
import { folderOf, MAX_FILENAME_BYTES } from '../workspace/pipes/placeholders.ts'

/** A file's path in its Sender's directory. Both fields are empty for the root. */
export type Place = { folder: string; name: string }

const MAX_PATH_BYTES = 1024

/**
 * Parses a path. Directories only exist in the ledger, so a path cannot lead out of them. As usual, `..` at the root
 * stays at the root.
 */
export function readPath(sent: string): Place {
  if (Buffer.byteLength(sent) > MAX_PATH_BYTES) throw refused(`has more than ${MAX_PATH_BYTES} bytes`)
  if (/\p{Cc}|\ufffd/u.test(sent)) throw refused('has control characters, or is not UTF-8')
  const segments: string[] = []
  for (const segment of sent.split('/')) {
    if (segment === '..') segments.pop()
    else if (segment !== '' && segment !== '.') segments.push(segment)
  }
  if (segments.some((segment) => Buffer.byteLength(segment) > MAX_FILENAME_BYTES))
    throw refused(`has a name of more than ${MAX_FILENAME_BYTES} bytes`)
  const name = segments.pop() ?? ''
  return { folder: segments.join('/'), name }
}

export const isRoot = ({ name }: Place): boolean => name === ''

/** The path without a leading slash, like stored folders. */
export const pathOf = ({ folder, name }: Place): string => (folder === '' ? name : `${folder}/${name}`)

const refused = (message: string) => invalidRequest([{ field: 'The path', message }])

/**
 * The suffixes of temporary names in WinSCP and other clients. rclone puts eight hexadecimal digits before its suffix.
 */
const TEMPORARY = /(?<=.)(?:(?:\.[0-9a-f]{8})?\.partial|\.filepart|\.part)$/

/** The name that a file has after its client has finished and renamed it. The file's key is built from this name. */
export const finalNameOf = (name: string): string => name.replace(TEMPORARY, '')

/** The values from which a file's key is built. */
export function describePlace({ folder, name }: Place): { filename: string; relativePath: string } {
  const filename = finalNameOf(name)
  return { filename, relativePath: pathOf({ folder, name: filename }) }
}

/** Whether a file gets the same key at both paths. */
export function hasSameKey(from: Place, to: Place): boolean {
  const [one, other] = [describePlace(from), describePlace(to)]
  return one.filename === other.filename && folderOf(one.relativePath) === folderOf(other.relativePath)
}
