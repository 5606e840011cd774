import { Metadata } from '@tus/server'
import { SluiceError } from '../../platform/kernel/errors.ts'

/** The parsed Upload-Metadata of a creation. */
type UploadMetadata = {
  header: string | null
  filename: string
  filetype: string | null
  /** All other keys. */
  custom: Record<string, string>
}

const MAX_BYTES = 8192

export function parseUploadMetadata(header: string | string[] | undefined): UploadMetadata {
  const text = Array.isArray(header) ? header.join(',') : header
  if (text === undefined || text.trim() === '')
    return { header: null, filename: 'file', filetype: null, custom: {} }
  if (Buffer.byteLength(text) > MAX_BYTES)
    throw new SluiceError('invalid_header', `Upload-Metadata may have ${MAX_BYTES} bytes at most.`)
  const { filename, filetype, ...custom } = pairsOf(text)
  return { header: text, filename: filename || 'file', filetype: filetype || null, custom }
}

/**
 * Replaces `Metadata.parse`, which takes a key named like a property of every object, such as `constructor`, for a
 * duplicate.
 */
function pairsOf(text: string): Record<string, string> {
  const pairs = new Map<string, string>()
  for (const pair of text.trim().split(/\s*,\s*/)) {
    const [key = '', value = '', ...more] = pair.split(' ')
    const wellFormed = more.length === 0 && Metadata.validateKey(key) && Metadata.validateValue(value)
    if (!wellFormed || pairs.has(key))
      throw new SluiceError(
        'invalid_header',
        'Upload-Metadata must be comma-separated pairs: a key, used only once, a space, and the value in Base64.',
      )
    // PostgreSQL cannot store NUL in text.
    pairs.set(key, Buffer.from(value, 'base64').toString('utf8').replaceAll('\0', ''))
  }
  return Object.fromEntries(pairs)
}
