import { Metadata } from '@tus/server'
import { SluiceError } from '../kernel/errors.ts'

/** The Upload-Metadata of a creation, read. */
export type UploadMetadata = {
  header: string | null
  filename: string
  filetype: string | null
  /** All other keys. */
  rest: Record<string, string>
}

const MAX_BYTES = 8192

export function parseUploadMetadata(header: string | string[] | undefined): UploadMetadata {
  const text = Array.isArray(header) ? header.join(',') : header
  if (text === undefined || text.trim() === '')
    return { header: null, filename: 'file', filetype: null, rest: {} }
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new SluiceError('invalid_header', `Upload-Metadata may have ${MAX_BYTES} bytes at most.`)
  const { filename, filetype, ...rest } = pairsOf(text)
  return { header: text, filename: filename || 'file', filetype: filetype || null, rest }
}

function pairsOf(text: string): Record<string, string> {
  try {
    const pairs = Object.entries(Metadata.parse(text.replace(/\s*,\s*/g, ',').trim()))
    // PostgreSQL keeps no NUL in text.
    return Object.fromEntries(pairs.map(([key, value]) => [key, (value ?? '').replaceAll('\0', '')]))
  } catch (error) {
    throw new SluiceError(
      'invalid_header',
      'Upload-Metadata must be pairs with commas between: each key once, a space, and its value in Base64.',
      { cause: error },
    )
  }
}
