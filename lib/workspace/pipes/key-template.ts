import { cleanFilename, cleanSegment, extensionOf, shortenFilename } from './clean-filename.ts'
import { MAX_KEY_BYTES, MAX_OPEN_BYTES, MAX_PREFIX_BYTES, MAX_SEGMENT_BYTES } from './key-prefix.ts'

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
