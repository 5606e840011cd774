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
export function cleanSegment(text: string, maxBytes: number, missing: string): string {
  return truncate(withoutUnwanted(text), maxBytes) || missing
}

/** In lower case and without its dot; `bin` where there is none. */
export function extensionOf(filename: string): string {
  return filename.match(EXTENSION)?.[1]?.toLowerCase() ?? 'bin'
}

/** Keeps the extension, since programs go by it. */
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
