import { SluiceError } from '../../platform/kernel/errors.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'

/** TUS 1.0.0, Upload-Defer-Length: "Its value MUST be 1." */
export function deferHeader({ headers }: UploadRequest): boolean {
  const text = headers['upload-defer-length']
  if (text === undefined) return false
  if (text !== '1') throw new SluiceError('invalid_header', 'Upload-Defer-Length must be 1.')
  return true
}

export const OFFSET_STREAM = 'application/offset+octet-stream'

export function assertOffsetStream({ headers }: UploadRequest): void {
  if (headers['content-type']?.trim().toLowerCase() !== OFFSET_STREAM)
    throw new SluiceError('unsupported_media_type', `Content-Type must be ${OFFSET_STREAM}.`)
}

export function expiresHeader(atMs: number): Record<string, string> {
  return { 'Upload-Expires': new Date(atMs).toUTCString() }
}
