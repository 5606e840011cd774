import { FURTHER_NAMES, hasZipSignature, isOneFamily } from './media-families.ts'

/**
 * Whether a file is what it was declared to be, by its first bytes. Nothing of it goes to a bucket before there are this many of
 * them, or all.
 */
export const HEAD_BYTES = 4100

/** `found`: the type that the bytes have. */
export type Content = { found: string; fits: boolean }

const ANYTHING = 'application/octet-stream'
const TEXT = 'text/plain'
const NOTHING = 'application/x-empty'

/** It is only loaded where a Pipe asks for it. */
const library = () => import('file-type')

/**
 * - A type that has a signature needs it, or that of its family.
 * - Any other type, such as text, needs valid UTF-8 without NUL, and no signature. Unknown images, sounds, videos and fonts
 *   are binary, so text is none of them.
 * - `application/octet-stream`, or no declared type, claims nothing, so everything fits.
 */
export async function judgeContent(
  head: Uint8Array,
  { declared, isWhole }: { declared: string | null; isWhole: boolean },
): Promise<Content> {
  const type = mediaType(declared) || ANYTHING
  const found = await typeOf(head, isWhole)
  return { found, fits: type === ANYTHING || (await isWhatItSays(type, found)) }
}

/** Without its parameters. */
const mediaType = (text: string | null | undefined): string =>
  (text ?? '').split(';', 1)[0]!.trim().toLowerCase()

async function isWhatItSays(type: string, found: string): Promise<boolean> {
  if (isOneFamily(type, found)) return true
  return found === TEXT && mayBeText(type) && !(await hasSignature(type))
}

const BINARY = /^(image|audio|video|font)\//
const WRITTEN_MEDIA = /\+(xml|json)$|^audio\/(x-)?(mpegurl|scpls)$|^image\/x-(xbitmap|xpixmap|portable-.+)$/
const mayBeText = (type: string) => !BINARY.test(type) || WRITTEN_MEDIA.test(type)

async function typeOf(head: Uint8Array, isWhole: boolean): Promise<string> {
  if (head.length === 0) return NOTHING
  const { fileTypeFromBuffer } = await library()
  const signed = mediaType((await fileTypeFromBuffer(head))?.mime)
  const isText = isCleanText(head, isWhole)
  // Letters at the start of a text are no signature, unless a format of text has that one: BM, MZ, II.
  if (signed && !(isText && !TEXT_FORMATS.has(signed))) return signed
  return isText ? TEXT : ANYTHING
}

/** Formats with a signature whose files can be text from their first byte to their last. */
const TEXT_FORMATS = new Set([
  ...['application/pdf', 'application/postscript', 'application/eps', 'application/rtf'],
  ...['application/pgp-encrypted', 'application/x-ms-regedit', 'model/stl'],
])

async function hasSignature(type: string): Promise<boolean> {
  const { supportedMimeTypes } = await library()
  if (WRITTEN.has(type)) return false
  return supportedMimeTypes.has(type) || FURTHER_NAMES.has(type) || hasZipSignature(type)
}

/** The library knows these by their first line, which not every one of them has. */
const WRITTEN = new Set([
  'application/xml',
  'text/calendar',
  'text/vcard',
  'text/vtt',
  'model/stl',
  'application/x-ms-regedit',
])

/** Valid UTF-8 without NUL. What was cut off may end within a character. */
function isCleanText(head: Uint8Array, isWhole: boolean): boolean {
  if (head.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole })
    return true
  } catch {
    return false
  }
}
