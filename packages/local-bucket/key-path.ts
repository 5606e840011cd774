import { S3Error } from './s3-error.ts'

const MAX_NAME_BYTES = 255
const CONTINUES = '%+'

/**
 * Object keys as file paths, and back. A key looks like its path, save for what a file system cannot hold:
 *  - a segment that is empty is `%`; `.` and `..` are `%2E` and `%2E%2E`;
 *  - a control character is `%XX`, and so is a percent sign that would otherwise read as one of these;
 *  - a segment too long for a file name is cut in pieces, each but the last ending in `%+`.
 * No key leads out of its folder, since no path made here has a segment `..`, an empty one, or NUL.
 */
export function keyToPath(key: string): string {
  if (!key.isWellFormed()) throw new S3Error('InvalidURI')
  return key
    .split('/')
    .flatMap((segment) => pieces(escapeCharacters(segment)).map(safeName))
    .join('/')
}

/** Of one file name or folder name; the caller joins the pieces of a segment. */
export function decodeName(name: string): { text: string; continues: boolean } {
  const continues = name.endsWith(CONTINUES)
  const encoded = continues ? name.slice(0, -CONTINUES.length) : name
  if (encoded === '%' && !continues) return { text: '', continues }
  const text = encoded.replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return { text, continues }
}

function escapeCharacters(segment: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a file name
  return segment.replace(/[\u0000-\u001f\u007f]|%(?=[0-9A-F]{2}|\+)/g, (character) => {
    return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`
  })
}

/** After the cut, since what is left over of a long segment can be `..`, too. */
function safeName(name: string): string {
  if (name === '') return '%'
  if (name === '%') return '%25'
  return name === '.' || name === '..' ? name.replaceAll('.', '%2E') : name
}

/** Cut between characters and between escapes, so that each piece decodes by itself. */
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
