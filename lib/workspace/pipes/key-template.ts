import { z } from 'zod'
import { isPlainText } from '../../platform/kernel/parse-input.ts'

/** S3 keys have 1,024 bytes of UTF-8 at most. */
const MAX_KEY_BYTES = 1024
/** Where objects are kept as files, as MinIO does, a segment is a file name. */
const MAX_SEGMENT_BYTES = 255
/** A key may have two prefixes. Whatever follows them fits, if it stays within the rest. */
const MAX_PREFIX_BYTES = 256
/** What stands after the last / of a prefix begins the segment of what follows. */
const MAX_OPEN_BYTES = 48

/** What a Data Store puts before each key, and a token after that. */
export const keyPrefixField = z
  .string()
  .superRefine((text, context) => {
    const fault = lengthFault(text)
    if (fault) context.addIssue({ code: 'custom', message: fault })
  })
  .refine((text) => !text.startsWith('/'), 'must not start with /')
  .refine((text) => !text.includes('..'), 'must not have .. in it')
  .refine((text) => isPlainText(text) && !text.includes('\\'), 'must not have control characters or \\ in it')

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
 * Where an object goes: the Data Store's prefix, the token's, then the Pipe's template with its fields filled
 * in. `{file_id}` is always among them, so nothing is ever overwritten.
 */
export const DEFAULT_KEY_TEMPLATE = '{file_id}/{filename}'

const FIELDS = ['file_id', 'filename', 'ext', 'yyyy', 'mm', 'dd', 'sender', 'pipe_id'] as const
type Field = (typeof FIELDS)[number]

const MAX_SENDER_BYTES = 64
const MAX_TEMPLATE_BYTES = MAX_KEY_BYTES - 2 * MAX_PREFIX_BYTES
/** Before its first /. */
const MAX_FIRST_BYTES = MAX_SEGMENT_BYTES - 2 * MAX_OPEN_BYTES
const SHORTEST_FILENAME_BYTES = 24
const MAX_BYTES: Record<Field, number> = {
  file_id: 36,
  filename: SHORTEST_FILENAME_BYTES,
  ext: 16,
  yyyy: 4,
  mm: 2,
  dd: 2,
  sender: MAX_SENDER_BYTES,
  pipe_id: 25,
}

type Piece = { text: string } | { field: string }

/** What is wrong with a template, in words that follow its name; nothing if it is right. */
export function keyTemplateFault(template: string): string | undefined {
  const pieces = parse(template)
  const unknown = pieces.find((piece) => 'field' in piece && !isField(piece.field))
  if (unknown && 'field' in unknown) {
    return `has an unknown field {${unknown.field}}; there are ${FIELDS.map((field) => `{${field}}`).join(', ')}`
  }
  if (!pieces.some((piece) => 'field' in piece && piece.field === 'file_id'))
    return 'must have {file_id} in it, so that no file overwrites another'
  const literal = pieces.map((piece) => ('text' in piece ? piece.text : 'x')).join('')
  if (/[{}]/.test(literal)) return 'has a { or } that is not part of a field'
  if (/[\p{Cc}\\]|\p{Cs}/u.test(literal)) return 'must not have control characters or \\ in it'
  if (literal.startsWith('/')) return 'must not start with /'
  if (literal.endsWith('/')) return 'must not end with /'
  if (literal.split('/').some((segment) => segment === '')) return 'must not have // in it'
  if (literal.split('/').some((segment) => segment === '.' || segment.includes('..')))
    return 'must not have .. in it'
  if (longest(pieces) > MAX_TEMPLATE_BYTES) return 'is too long'
  const [first, ...others] = template.split('/').map((segment) => longest(parse(segment)))
  if (first! > MAX_FIRST_BYTES)
    return `must not have more than ${MAX_FIRST_BYTES} bytes before its first /, as prefixes come before it`
  return others.some((bytes) => bytes > MAX_SEGMENT_BYTES)
    ? `must not have more than ${MAX_SEGMENT_BYTES} bytes between one / and the next`
    : undefined
}

export type KeyParts = {
  /** The Data Store's. */
  prefix: string
  /** The token's. */
  keyPrefix: string
  fileId: string
  /** As the client sent it. */
  filename: string
  sender: string
  pipeId: string
  at: Date
}

/** The object's key, at most 1,024 bytes, and 255 from one / to the next: the filename is shortened first. */
export function renderObjectKey(template: string, parts: KeyParts): string {
  const pieces = parse(template)
  const filename = cleanFilename(parts.filename)
  const [yyyy, mm, dd] = parts.at.toISOString().slice(0, 10).split('-')
  const values: Record<Field, string> = {
    file_id: parts.fileId,
    filename: '',
    ext: extensionOf(filename),
    yyyy: yyyy!,
    mm: mm!,
    dd: dd!,
    sender: cleanSegment(parts.sender, MAX_SENDER_BYTES, 'sender'),
    pipe_id: parts.pipeId,
  }
  const fill = () => {
    const filled = pieces.map((piece) => ('text' in piece ? piece.text : values[piece.field as Field]))
    return withoutDotSegments(parts.prefix + parts.keyPrefix + filled.join(''))
  }
  values.filename = FILENAME_MARK
  const room = roomForFilename(fill())
  values.filename = shortenFilename(filename, Math.max(room, SHORTEST_FILENAME_BYTES))
  return fill()
}

/** In no key: it is a control character. */
const FILENAME_MARK = '\u0000'

/** For each, where it stands several times. */
function roomForFilename(key: string): number {
  const within = (text: string, maxBytes: number) => {
    const count = text.split(FILENAME_MARK).length - 1
    return count === 0 ? maxBytes : Math.floor((maxBytes - Buffer.byteLength(text) + count) / count)
  }
  const rooms = key.split('/').map((segment) => within(segment, MAX_SEGMENT_BYTES))
  return Math.min(within(key, MAX_KEY_BYTES), ...rooms)
}

/** Each part by itself may end or begin with a dot, and dots meet where two parts do: `a/.` and `./b` would make `a/../b`. */
function withoutDotSegments(key: string): string {
  return key.replace(/\.{2,}/g, '.').replace(/(?<=^|\/)\.(?=\/)/g, '_')
}

/** `{name}` is a field; anything else is text, a stray brace too. */
function parse(template: string): Piece[] {
  return template
    .split(/(\{[^{}]*\})/)
    .filter(Boolean)
    .map((piece) => (/^\{[^{}]*\}$/.test(piece) ? { field: piece.slice(1, -1) } : { text: piece }))
}

function isField(name: string): name is Field {
  return (FIELDS as readonly string[]).includes(name)
}

function longest(pieces: Piece[]): number {
  return pieces.reduce(
    (sum, piece) => sum + ('text' in piece ? Buffer.byteLength(piece.text) : MAX_BYTES[piece.field as Field]),
    0,
  )
}

const MAX_FILENAME_BYTES = 255
const MISSING = 'file'
/** Not in a key: separators, control characters, halves of surrogate pairs, and what reorders text on screen. */
const UNWANTED = /[/\\]|\p{Cc}|\p{Cs}|[\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff]/gu
const EXTENSION = /\.([A-Za-z0-9]{1,16})$/

/** A filename fit for an object key: one segment of at most 255 bytes, Unicode kept. */
export function cleanFilename(sent: string): string {
  return shortenFilename(withoutUnwanted(sent) || MISSING, MAX_FILENAME_BYTES)
}

/** Any other text as part of a key. */
function cleanSegment(text: string, maxBytes: number, missing: string): string {
  return truncate(withoutUnwanted(text), maxBytes) || missing
}

/** In lower case and without its dot; `bin` where there is none. */
function extensionOf(filename: string): string {
  return filename.match(EXTENSION)?.[1]?.toLowerCase() ?? 'bin'
}

/** Keeps the extension, since programs go by it. */
function shortenFilename(filename: string, maxBytes: number): string {
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

/** A segment of one dot is no name to anything that reads a key as a path. */
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
