import { parse } from 'content-disposition'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { UploadRequest } from './upload-request.ts'

/** The name of a new file: the last segment of its address, or else the one in Content-Disposition (RFC 6266). */
export function readName({ name, headers }: Pick<UploadRequest, 'name' | 'headers'>): string {
  const disposition = headers['content-disposition']
  return lastSegment(readPath({ name }) ?? '') || (disposition && ofDisposition(disposition)) || 'file'
}

/** The whole address of a new file, after that of the Pipe: its folder and its name. */
export function readPath({ name }: Pick<UploadRequest, 'name'>): string | null {
  if (name === undefined) return null
  try {
    return decodeURIComponent(name)
  } catch (cause) {
    throw new SluiceError('invalid_request', 'The name in the address is not percent-encoded UTF-8.', {
      cause,
    })
  }
}

/** Node reads headers as Latin-1, but many clients send UTF-8. */
function ofDisposition(header: string): string | undefined {
  const bytes = Buffer.from(header, 'latin1')
  const utf8 = bytes.toString('utf8')
  const { filename } = parse(utf8.includes('\ufffd') ? header : utf8).parameters
  return filename && lastSegment(filename)
}

/** A name is not a path: whatever precedes the last segment is dropped. PostgreSQL cannot store NUL in text. */
function lastSegment(path: string): string | undefined {
  const segments = path.replaceAll('\0', '').split(/[/\\]/)
  return segments.findLast((segment) => !['', '.', '..'].includes(segment))
}
