import { PROBE_FOLDER } from '../../buckets/probe-operations.ts'

/** The placeholders in key templates and object settings, and their values. */
const FIELDS = ['file_id', 'filename', 'ext', 'path', 'yyyy', 'mm', 'dd', 'sender', 'pipe_id'] as const
export type Field = (typeof FIELDS)[number]

export const MAX_FILENAME_BYTES = 255
const MAX_SENDER_BYTES = 64
export const MAX_FOLDER_BYTES = 512

/** The maximum length of each value, in bytes. */
const MAX_BYTES: Record<Field, number> = {
  file_id: 36,
  filename: MAX_FILENAME_BYTES,
  ext: 16,
  path: MAX_FOLDER_BYTES,
  yyyy: 4,
  mm: 2,
  dd: 2,
  sender: MAX_SENDER_BYTES,
  pipe_id: 25,
}

export type Piece = { text: string } | { field: string }

/** A file's properties at its creation, from which the placeholders are filled in. */
export type FileFacts = {
  fileId: string
  /** As sent by the client. */
  filename: string
  /** As cleaned by `folderOf`. Empty if there is none. */
  folder: string
  sender: string
  pipeId: string
  at: Date
}

/** `{name}` is a field; anything else is text, even a stray brace. */
export function parse(template: string): Piece[] {
  return template
    .split(/(\{[^{}]*\})/)
    .filter(Boolean)
    .map((piece) => (/^\{[^{}]*\}$/.test(piece) ? { field: piece.slice(1, -1) } : { text: piece }))
}

/** Describes what is wrong with a template's fields, as a phrase that follows the template's name. */
export function fieldFault(pieces: readonly Piece[]): string | undefined {
  const unknown = pieces.find((piece) => 'field' in piece && !isField(piece.field))
  if (!unknown || !('field' in unknown)) {
    const literal = pieces.map((piece) => ('text' in piece ? piece.text : '')).join('')
    return /[{}]/.test(literal) ? 'has a { or } that is not part of a field' : undefined
  }
  return `has an unknown field {${unknown.field}}; the fields are ${FIELDS.map((field) => `{${field}}`).join(', ')}`
}

function isField(name: string): name is Field {
  return (FIELDS as readonly string[]).includes(name)
}

/** The template's length in bytes, with every field at its maximum length. */
export function longest(pieces: readonly Piece[], most: Partial<Record<Field, number>> = {}): number {
  const bytes = { ...MAX_BYTES, ...most }
  return pieces.reduce(
    (sum, piece) => sum + ('text' in piece ? Buffer.byteLength(piece.text) : bytes[piece.field as Field]),
    0,
  )
}

export function valuesOf(facts: FileFacts): Record<Field, string> {
  const filename = cleanFilename(facts.filename)
  const [yyyy, mm, dd] = facts.at.toISOString().slice(0, 10).split('-')
  return {
    file_id: facts.fileId,
    filename,
    ext: extensionOf(filename),
    path: facts.folder,
    yyyy: yyyy!,
    mm: mm!,
    dd: dd!,
    sender: cleanSegment(facts.sender, MAX_SENDER_BYTES, 'sender'),
    pipe_id: facts.pipeId,
  }
}

export function fillIn(pieces: readonly Piece[], values: Record<Field, string>): string {
  return pieces.map((piece) => ('text' in piece ? piece.text : values[piece.field as Field])).join('')
}

const MISSING = 'file'
/**
 * Not allowed in a key: separators, control characters, lone surrogates, and characters that reorder text on screen.
 */
const UNWANTED = /[/\\]|\p{Cc}|\p{Cs}|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/gu
const EXTENSION = /\.([A-Za-z0-9]{1,16})$/

/** A filename for an object key: one segment of at most 255 bytes, with Unicode preserved. */
export function cleanFilename(sent: string): string {
  return shortenFilename(withoutUnwanted(sent) || MISSING, MAX_FILENAME_BYTES)
}

/**
 * The folder of a path sent by a client: everything before the last segment, with each segment cleaned like a filename.
 * Empty segments and those made of dots are dropped, so that no path leads outside the prefix.
 */
export function folderOf(relativePath: string | null): string {
  const segments = (relativePath ?? '').split(/[/\\]/).slice(0, -1)
  return segments
    .map((segment) => truncate(withoutUnwanted(segment), MAX_FILENAME_BYTES))
    .map((segment) => (segment === PROBE_FOLDER ? segment.replace('.', '_') : segment))
    .filter(Boolean)
    .join('/')
}

/** Cleans a value other than a filename or folder for use in a key. */
function cleanSegment(text: string, maxBytes: number, missing: string): string {
  return truncate(withoutUnwanted(text), maxBytes) || missing
}

/** The extension in lower case, without the dot; `bin` if there is none. */
function extensionOf(filename: string): string {
  return filename.match(EXTENSION)?.[1]?.toLowerCase() ?? 'bin'
}

/** Keeps the extension, since programs rely on it. */
export function shortenFilename(filename: string, maxBytes: number): string {
  if (Buffer.byteLength(filename) <= maxBytes) return filename
  const extension = filename.match(EXTENSION)?.[0] ?? ''
  const stem = filename.slice(0, filename.length - extension.length)
  return truncate(stem, maxBytes - extension.length) + extension || MISSING
}

function withoutUnwanted(text: string): string {
  const cleaned = text
    .replace(UNWANTED, '_')
    .replace(/\.{2,}/g, '.')
    .trim()
  return withoutLoneDot(cleaned)
}

/** Programs that read a key as a path do not treat a single dot as a name. */
function withoutLoneDot(text: string): string {
  return text === '.' ? '' : text
}

/** Cuts between code points, never inside one. */
function truncate(text: string, maxBytes: number): string {
  let bytes = 0
  let kept = ''
  for (const character of text) {
    bytes += Buffer.byteLength(character)
    if (bytes > maxBytes) break
    kept += character
  }
  return withoutLoneDot(kept.trimEnd())
}
