/**
 * The media type of a file, derived from its extension, as browsers do. lib/sftp uses it too, because SFTP clients do not
 * declare types. It is here because this package must not import server code.
 */
const TYPES = new Map(
  Object.entries({
    aac: 'audio/aac',
    avi: 'video/x-msvideo',
    avif: 'image/avif',
    bmp: 'image/bmp',
    bz2: 'application/x-bzip2',
    css: 'text/css',
    csv: 'text/csv',
    doc: 'application/msword',
    docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    epub: 'application/epub+zip',
    flac: 'audio/flac',
    gif: 'image/gif',
    gz: 'application/gzip',
    heic: 'image/heic',
    htm: 'text/html',
    html: 'text/html',
    jpeg: 'image/jpeg',
    jpg: 'image/jpeg',
    json: 'application/json',
    m4a: 'audio/mp4',
    m4v: 'video/x-m4v',
    mkv: 'video/x-matroska',
    mov: 'video/quicktime',
    mp3: 'audio/mpeg',
    mp4: 'video/mp4',
    mpg: 'video/mpeg',
    mxf: 'application/mxf',
    ods: 'application/vnd.oasis.opendocument.spreadsheet',
    odt: 'application/vnd.oasis.opendocument.text',
    ogg: 'audio/ogg',
    pdf: 'application/pdf',
    png: 'image/png',
    ppt: 'application/vnd.ms-powerpoint',
    pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
    rtf: 'application/rtf',
    svg: 'image/svg+xml',
    tar: 'application/x-tar',
    tif: 'image/tiff',
    tiff: 'image/tiff',
    txt: 'text/plain',
    wav: 'audio/wav',
    webm: 'video/webm',
    webp: 'image/webp',
    xls: 'application/vnd.ms-excel',
    xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    xml: 'application/xml',
    zip: 'application/zip',
    zst: 'application/zstd',
  }),
)

export function typeOfName(filename: string): string | null {
  const [, extension] = /\.([A-Za-z0-9]+)$/.exec(filename) ?? []
  return (extension && TYPES.get(extension.toLowerCase())) || null
}
