import { z } from 'zod'
import { isPlainText } from '../../platform/kernel/parse-input.ts'

/** S3 keys have 1,024 bytes of UTF-8 at most. */
export const MAX_KEY_BYTES = 1024
/** Where objects are kept as files, as MinIO does, a segment is a file name. */
export const MAX_SEGMENT_BYTES = 255
/** A key may have two prefixes. Whatever follows them fits, if it stays within the rest. */
export const MAX_PREFIX_BYTES = 256
/** What stands after the last / of a prefix begins the segment of what follows. */
export const MAX_OPEN_BYTES = 48

/** What a Data Store puts before each key, and a token after that. */
export const keyPrefixField = z
  .string()
  .superRefine((text, context) => {
    const fault = lengthFault(text)
    if (fault) context.addIssue({ code: 'custom', message: fault })
  })
  .refine((text) => !text.startsWith('/'), 'must not start with /')
  .refine((text) => !text.includes('..'), 'must not have .. in it')
  .refine((text) => isPlainText(text) && !text.includes('\\'), 'must not have control characters or \\ in it')

function lengthFault(prefix: string): string | undefined {
  if (Buffer.byteLength(prefix) > MAX_PREFIX_BYTES) return `must have at most ${MAX_PREFIX_BYTES} bytes`
  const segments = prefix.split('/').map((segment) => Buffer.byteLength(segment))
  if (segments.at(-1)! > MAX_OPEN_BYTES) return `must have at most ${MAX_OPEN_BYTES} bytes after its last /`
  const maxBytes = MAX_SEGMENT_BYTES - MAX_OPEN_BYTES
  if (segments.some((bytes) => bytes > maxBytes))
    return `must not have more than ${maxBytes} bytes between one / and the next`
  return undefined
}
