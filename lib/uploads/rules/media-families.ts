/**
 * Media types that are one to a reader of first bytes: other names of one type, and formats that begin as their container does.
 * Within a family, a file that is declared as one may turn out to be any other.
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

/** What else is a ZIP archive inside. */
const ZIPPED =
  /^application\/(vnd\.openxmlformats-officedocument\.|vnd\.oasis\.opendocument\.|vnd\.ms-(word|excel|powerpoint)\.|epub\+zip$|java-archive$|x-java-archive$|x-zip|zip$|vnd\.android\.package-archive$|x-xpinstall$|vnd\.apple\.|vnd\.google-earth\.kmz$|vnd\.comicbook\+zip$|vnd\.visio$)|^model\/(3mf|vnd\.usdz\+zip)$/
const isZipped = (type: string) => ZIPPED.test(type)

/** One of the two is the container itself: a document does not become another kind of document. */
const isZip = (type: string) => type === 'application/zip' || type.startsWith('application/x-zip')

export function isOneFamily(declared: string, found: string): boolean {
  if (declared === found) return true
  const family = FAMILY_OF.get(declared)
  if (family !== undefined && family === FAMILY_OF.get(found)) return true
  return isZipped(declared) && isZipped(found) && (isZip(declared) || isZip(found))
}

/** Other names of types that have a signature. */
export const FURTHER_NAMES: ReadonlySet<string> = new Set(FAMILY_OF.keys())
export const hasZipSignature = isZipped
