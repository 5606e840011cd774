import { createHash } from 'node:crypto'

export function formOf(pairs: Record<string, string>): string {
  return Object.entries(pairs)
    .map((pair) => pair.map(encodeURIComponent).join('='))
    .join('&')
}

export function md5(chunks: readonly Uint8Array[]): string {
  const hash = createHash('md5')
  for (const chunk of chunks) hash.update(chunk)
  return hash.digest('base64')
}

/** `prefix` is what the provider puts before the name. */
export function metadataHeaders(prefix: string, metadata: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).map(([name, value]) => [`${prefix}${name}`, inAscii(value)]),
  )
}

/** An encoded word (RFC 2047) has at most 75 characters, which leaves room for 45 bytes in base64. */
const MAX_WORD_BYTES = 45

/**
 * S3 decodes metadata values according to RFC 2047, and encodes non-ASCII values when it returns them. Azure returns what
 * it was sent.
 */
function inAscii(value: string): string {
  if (/^[ -~]*$/.test(value)) return value
  const words: string[] = ['']
  for (const character of value) {
    if (Buffer.byteLength(words.at(-1)! + character) > MAX_WORD_BYTES) words.push('')
    words[words.length - 1] += character
  }
  return words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`).join(' ')
}
