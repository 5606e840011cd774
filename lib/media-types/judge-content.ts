/**
 * How many of a file's first bytes are compared with its declared type. Nothing is sent to a bucket before these
 * bytes, or the entire file, have arrived.
 */
export const HEAD_BYTES = 4100

/** `found` is the actual type of the bytes, and `fits` is true if the declared type matches it. */
export type Content = { found: string; fits: boolean }

const ANYTHING = 'application/octet-stream'
const TEXT = 'text/plain'
const NOTHING = 'application/x-empty'

/** Loaded only if a Pipe verifies content. */
const library = () => import('file-type')

/**
 * - A type with a signature needs that signature, or one from its family.
 * - Any other type, such as text, needs valid UTF-8 without NUL, and no signature. Unknown images, sounds, videos and
 *   fonts are binary, so they never pass as text.
 * - `application/octet-stream`, or no declared type, claims nothing, so everything matches.
 */
export async function judgeContent(
  head: Uint8Array,
  { declared, isWhole }: { declared: string | null; isWhole: boolean },
): Promise<Content> {
  const type = mediaType(declared) || ANYTHING
  const found = await typeOf(head, isWhole)
  return { found, fits: type === ANYTHING || (await isWhatItSays(type, found)) }
}

/** The media type without its parameters. */
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
  // Letters at the start of text (BM, MZ, II) do not count as a signature, unless a text format has that signature.
  if (signed && !(isText && !TEXT_FORMATS.has(signed))) return signed
  return isText ? TEXT : ANYTHING
}

/** Formats with a signature whose files can be text throughout. */
const TEXT_FORMATS = new Set([
  ...['application/pdf', 'application/postscript', 'application/eps', 'application/rtf'],
  ...['application/pgp-encrypted', 'application/x-ms-regedit', 'model/stl'],
])

async function hasSignature(type: string): Promise<boolean> {
  const { supportedMimeTypes } = await library()
  if (WRITTEN.has(type)) return false
  return supportedMimeTypes.has(type) || FAMILY_OF.has(type) || isZipped(type)
}

/** The library recognizes these types by their first line, which not all files have. */
const WRITTEN = new Set([
  'application/xml',
  'text/calendar',
  'text/vcard',
  'text/vtt',
  'model/stl',
  'application/x-ms-regedit',
])

/** Valid UTF-8 without NUL. The sample may end within a character. */
function isCleanText(head: Uint8Array, isWhole: boolean): boolean {
  if (head.includes(0)) return false
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: !isWhole })
    return true
  } catch {
    return false
  }
}

/**
 * Media types that have the same first bytes: other names for one type, and formats that start like their container.
 * Within a family, a file declared as one type may actually have any of the other types.
 */
const FAMILIES: readonly (readonly string[])[] = [
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/x-png'],
  ['image/bmp', 'image/x-bmp', 'image/x-ms-bmp'],
  ['image/x-icon', 'image/vnd.microsoft.icon', 'image/ico'],
  ['image/vnd.adobe.photoshop', 'image/x-photoshop', 'image/psd', 'application/x-photoshop'],
  ['image/heic', 'image/heif', 'image/heic-sequence', 'image/heif-sequence', 'image/avif'],
  [
    ...['image/tiff', 'image/x-adobe-dng', 'image/x-nikon-nef', 'image/x-sony-arw', 'image/x-canon-cr2'],
    ...['image/x-canon-cr3', 'image/x-fujifilm-raf', 'image/x-olympus-orf', 'image/x-panasonic-rw2'],
  ],
  [
    ...[
      'video/mp4',
      'audio/mp4',
      'video/quicktime',
      'video/x-m4v',
      'audio/x-m4a',
      'audio/m4a',
      'application/mp4',
    ],
    ...['video/3gpp', 'video/3gpp2', 'audio/3gpp', 'audio/3gpp2'],
  ],
  ['video/webm', 'audio/webm', 'video/matroska', 'audio/matroska', 'video/x-matroska', 'audio/x-matroska'],
  ['audio/ogg', 'video/ogg', 'application/ogg', 'audio/opus', 'audio/vorbis', 'audio/x-ogg'],
  ['video/x-ms-asf', 'audio/x-ms-asf', 'application/vnd.ms-asf', 'video/x-ms-wmv', 'audio/x-ms-wma'],
  ['video/vnd.avi', 'video/x-msvideo', 'video/avi', 'video/msvideo'],
  ['video/mpeg', 'video/mp1s', 'video/mp2p', 'video/mp2t'],
  ['audio/mpeg', 'audio/mp3', 'audio/x-mp3', 'audio/mpeg3', 'audio/x-mpeg'],
  ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  ['audio/aac', 'audio/x-aac', 'audio/aacp'],
  ['audio/flac', 'audio/x-flac'],
  ['audio/aiff', 'audio/x-aiff'],
  ['audio/midi', 'audio/x-midi', 'audio/mid'],
  [
    'font/ttf',
    'font/otf',
    'font/sfnt',
    'font/collection',
    'application/x-font-ttf',
    'application/x-font-otf',
  ],
  ['font/woff', 'application/font-woff', 'application/x-font-woff'],
  ['font/woff2', 'application/font-woff2'],
  ['application/pdf', 'application/x-pdf', 'application/illustrator'],
  ['application/postscript', 'application/eps', 'image/x-eps'],
  ['application/rtf', 'text/rtf'],
  ['application/gzip', 'application/x-gzip', 'application/x-tgz'],
  ['application/x-bzip2', 'application/x-bzip'],
  ['application/x-tar', 'application/tar'],
  ['application/x-rar-compressed', 'application/vnd.rar', 'application/x-rar'],
  ['application/x-7z-compressed', 'application/7z'],
  [
    ...['application/x-msdownload', 'application/vnd.microsoft.portable-executable', 'application/x-dosexec'],
    'application/x-ms-dos-executable',
  ],
  [
    ...[
      'application/x-cfb',
      'application/msword',
      'application/vnd.ms-excel',
      'application/vnd.ms-powerpoint',
    ],
    ...[
      'application/vnd.ms-outlook',
      'application/vnd.visio',
      'application/vnd.ms-project',
      'application/x-msi',
    ],
  ],
]

const FAMILY_OF = new Map(FAMILIES.flatMap((family, n) => family.map((type) => [type, n] as const)))

/** Other formats that are ZIP archives. */
const ZIPPED =
  /^application\/(vnd\.openxmlformats-officedocument\.|vnd\.oasis\.opendocument\.|vnd\.ms-(word|excel|powerpoint)\.|epub\+zip$|java-archive$|x-java-archive$|x-zip|zip$|vnd\.android\.package-archive$|x-xpinstall$|vnd\.apple\.|vnd\.google-earth\.kmz$|vnd\.comicbook\+zip$|vnd\.visio$)|^model\/(3mf|vnd\.usdz\+zip)$/
const isZipped = (type: string) => ZIPPED.test(type)

const isZip = (type: string) => type === 'application/zip' || type.startsWith('application/x-zip')

function isOneFamily(declared: string, found: string): boolean {
  if (declared === found) return true
  const family = FAMILY_OF.get(declared)
  if (family !== undefined && family === FAMILY_OF.get(found)) return true
  // One of them must be ZIP itself: one kind of document does not match another.
  return isZipped(declared) && isZipped(found) && (isZip(declared) || isZip(found))
}
