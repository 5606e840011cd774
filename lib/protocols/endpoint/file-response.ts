import { parse } from 'content-disposition'
import { notNow, SluiceError } from '../../platform/kernel/errors.ts'
import type { Accepted } from '../../uploads/append.ts'
import type { Progress } from '../../uploads/opening/upload.ts'
import { resultHeader } from './decision.ts'
import { hasObject } from './look-up.ts'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

/**
 * The response once all bytes are durable: 201 if the object is in the bucket, 202 if the bucket or a decision takes
 * longer.
 */
export function describeFile(
  { fileId, progress }: { fileId: string; progress: Pick<Progress, 'crc32' | 'lengthBytes'> },
  { offsetBytes, state, result }: Pick<Accepted, 'offsetBytes' | 'state' | 'result'>,
  { filename, location }: { filename: string; location: string },
): UploadResponse {
  const isThere = hasObject(state)
  const file = {
    id: fileId,
    filename,
    size: progress.lengthBytes ?? offsetBytes,
    status: state === 'undecided' ? 'transferring' : state,
    checksum: isThere ? `crc32:${progress.crc32.toString(16).padStart(8, '0')}` : null,
    ...(result !== null && result !== undefined && { result }),
  }
  const headers = {
    ...resultHeader(result),
    Location: location,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
  }
  return { status: isThere ? 201 : 202, headers, body: JSON.stringify(file) }
}

/** The error for an upload that cannot be resumed and was interrupted because its node is stopping. */
export function stoppedForGood(): SluiceError {
  return notNow('This node is stopping. Send the file again.')
}

/** A new file's name: the last segment of its address, or else the name in Content-Disposition (RFC 6266). */
export function readName({ name, headers }: Pick<UploadRequest, 'name' | 'headers'>): string {
  const disposition = headers['content-disposition']
  return lastSegment(readPath({ name }) ?? '') || (disposition && ofDisposition(disposition)) || 'file'
}

/** A new file's path below the Pipe's address: its folder and its name. */
export function readPath({ name }: Pick<UploadRequest, 'name'>): string | null {
  if (name === undefined) return null
  try {
    return decodeURIComponent(name)
  } catch (cause) {
    throw new SluiceError('invalid_request', 'The file name in the address is not percent-encoded UTF-8.', {
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

/**
 * A name is not a path, so everything before the last segment is dropped. NUL is removed because PostgreSQL cannot
 * store it in text.
 */
function lastSegment(path: string): string | undefined {
  const segments = path.replaceAll('\0', '').split(/[/\\]/)
  return segments.findLast((segment) => !['', '.', '..'].includes(segment))
}
