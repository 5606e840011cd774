import { z } from 'zod'
import { isPlainText } from '../../platform/kernel/parse-input.ts'
import {
  type FileFacts,
  fieldFault,
  fillIn,
  longest as longestOf,
  type Piece,
  parse,
  shortenFilename,
  valuesOf,
} from './placeholders.ts'

/** S3 keys have at most 1,024 bytes of UTF-8. */
const MAX_KEY_BYTES = 1024
/** If objects are stored as files, as in MinIO, a segment is a file name. */
const MAX_SEGMENT_BYTES = 255
/** A key may have two prefixes of this size; the rest of the key gets the remaining bytes. */
const MAX_PREFIX_BYTES = 256
/** Limits the text after a prefix's last /, which starts the next segment. */
const MAX_OPEN_BYTES = 48

/** A prefix for object keys. Keys start with the Data Store's, followed by the token's. */
export const keyPrefixField = z
  .string()
  .superRefine((text, context) => {
    const fault = lengthFault(text)
    if (fault) context.addIssue({ code: 'custom', message: fault })
  })
  .refine((text) => !text.startsWith('/'), 'must not start with /')
  .refine((text) => !text.includes('..'), 'must not contain ..')
  .refine((text) => isPlainText(text) && !text.includes('\\'), 'must not contain control characters or \\')

function lengthFault(prefix: string): string | undefined {
  if (Buffer.byteLength(prefix) > MAX_PREFIX_BYTES) return `must have at most ${MAX_PREFIX_BYTES} bytes`
  const segments = prefix.split('/').map((segment) => Buffer.byteLength(segment))
  if (segments.at(-1)! > MAX_OPEN_BYTES) return `must have at most ${MAX_OPEN_BYTES} bytes after its last /`
  const maxBytes = MAX_SEGMENT_BYTES - MAX_OPEN_BYTES
  if (segments.some((bytes) => bytes > maxBytes))
    return `must not have more than ${maxBytes} bytes between one / and the next`
  return undefined
}

/**
 * An object's key: the Data Store's prefix, the token's, then the Pipe's template with its fields filled in. It
 * always contains `{file_id}`, so nothing is ever overwritten.
 */
export const DEFAULT_KEY_TEMPLATE = '{file_id}/{filename}'

const MAX_TEMPLATE_BYTES = MAX_KEY_BYTES - 2 * MAX_PREFIX_BYTES
/** The limit for the part of a template before its first /. */
const MAX_FIRST_BYTES = MAX_SEGMENT_BYTES - 2 * MAX_OPEN_BYTES
const SHORTEST_FILENAME_BYTES = 24

/**
 * The maximum length with a short filename and no folder: filenames are shortened to the remaining space, and files
 * whose folder does not fit are refused.
 */
const longest = (pieces: Piece[]) => longestOf(pieces, { filename: SHORTEST_FILENAME_BYTES, path: 0 })

/** If a file has no folder, the following / is also dropped. */
const FOLDER = '{path}/'

/** Describes what is wrong with a template, as a phrase that follows the template's name. Undefined if valid. */
export function keyTemplateFault(template: string): string | undefined {
  const pieces = parse(template)
  const fault = fieldFault(pieces)
  if (fault) return fault
  if (!pieces.some((piece) => 'field' in piece && piece.field === 'file_id'))
    return 'must contain {file_id}, so that no file overwrites another'
  if (!template.split(FOLDER).every(isAroundFolder))
    return 'must have a / after {path}, and a / or nothing before it'
  const literal = pieces.map((piece) => ('text' in piece ? piece.text : 'x')).join('')
  if (/[\p{Cc}\\]|\p{Cs}/u.test(literal)) return 'must not contain control characters or \\'
  if (literal.startsWith('/')) return 'must not start with /'
  if (literal.endsWith('/')) return 'must not end with /'
  if (literal.split('/').some((segment) => segment === '')) return 'must not contain //'
  if (literal.split('/').some((segment) => segment === '.' || segment.includes('..')))
    return 'must not contain ..'
  if (longest(pieces) > MAX_TEMPLATE_BYTES) return 'is too long'
  const [first, ...others] = template.split('/').map((segment) => longest(parse(segment)))
  if (first! > MAX_FIRST_BYTES)
    return `must not have more than ${MAX_FIRST_BYTES} bytes before its first /, because prefixes come before it`
  return others.some((bytes) => bytes > MAX_SEGMENT_BYTES)
    ? `must not have more than ${MAX_SEGMENT_BYTES} bytes between one / and the next`
    : undefined
}

/**
 * For one segment of a template split at `{path}/`: whether it has no other `{path}`, and the next `{path}/` starts
 * after a `/` or at the beginning.
 */
function isAroundFolder(text: string, n: number, all: string[]): boolean {
  const isBefore = n < all.length - 1
  return !text.includes('{path}') && (!isBefore || text === '' || text.endsWith('/'))
}

export const hasFolder = (template: string): boolean => template.includes(FOLDER)

export type KeyParts = FileFacts & {
  /** The Data Store's prefix. */
  prefix: string
  /** The token's prefix. */
  keyPrefix: string
}

/**
 * The object's key, with at most 1,024 bytes in total and 255 between slashes: the filename is shortened to fit.
 * Undefined if the folder is too long for that.
 */
export function renderObjectKey(template: string, parts: KeyParts): string | undefined {
  const pieces = parse(parts.folder === '' ? template.replaceAll(FOLDER, '') : template)
  const values = valuesOf(parts)
  const fill = (filename: string) => {
    const filled = withoutLastDots(fillIn(pieces, { ...values, filename }))
    return withoutDotSegments(parts.prefix + parts.keyPrefix + filled)
  }
  const room = roomForFilename(fill(FILENAME_MARK))
  const key = fill(shortenFilename(values.filename, Math.max(room, SHORTEST_FILENAME_BYTES)))
  return parts.folder === '' || fits(key) ? key : undefined
}

function fits(key: string): boolean {
  const segments = key.split('/').map((segment) => Buffer.byteLength(segment))
  return Buffer.byteLength(key) <= MAX_KEY_BYTES && Math.max(...segments) <= MAX_SEGMENT_BYTES
}

/** Never occurs in a key, since it is a control character. */
const FILENAME_MARK = '\u0000'

/** The bytes available for each occurrence of the filename. */
function roomForFilename(key: string): number {
  const within = (text: string, maxBytes: number) => {
    const count = text.split(FILENAME_MARK).length - 1
    return count === 0 ? maxBytes : Math.floor((maxBytes - Buffer.byteLength(text) + count) / count)
  }
  const rooms = key.split('/').map((segment) => within(segment, MAX_SEGMENT_BYTES))
  return Math.min(within(key, MAX_KEY_BYTES), ...rooms)
}

/** Parts may start or end with a dot, so joining `a/.` and `./b` would produce `a/../b`. */
function withoutDotSegments(key: string): string {
  return key.replace(/\.{2,}/g, '.').replace(/(?<=^|\/)\.(?=\/)/g, '_')
}

/** Azure drops dots at the end of a segment, and Windows has no such names. All destinations have the same key. */
function withoutLastDots(text: string): string {
  return text.replace(/\.(?=\/|$)/g, '_')
}
