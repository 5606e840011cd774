import type { IncomingMessage } from 'node:http'
import { bearerToken } from '../../platform/http/bearer.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { UploadPath } from './upload-path.ts'

/** A request to the TUS endpoint, its line and version read. */
export type TusRequest = UploadPath & {
  method: string
  headers: IncomingMessage['headers']
  origin: string | null
  body: IncomingMessage
}

export type TusAnswer = { status: number; headers: Record<string, string>; body?: string }

export function requiredToken({ headers }: TusRequest): string {
  const token = bearerToken(headers.authorization)
  if (!token)
    throw new SluiceError('token_missing', 'Send the upload token as `Authorization: Bearer tmp_…`.')
  return token
}

export function requiredFileId({ fileId }: TusRequest): string {
  if (!fileId) throw new SluiceError('method_not_allowed', 'That is the address of all uploads of this Pipe.')
  return fileId
}

/** A number above what JavaScript counts exactly stays above the largest object of any provider, and is refused as such. */
export function countHeader(request: TusRequest, name: string): number | undefined {
  const text = request.headers[name]
  if (text === undefined) return undefined
  if (typeof text !== 'string' || !/^\d+$/.test(text))
    throw new SluiceError('invalid_header', `${title(name)} must be a whole number of bytes, not negative.`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** The bytes that the body will have; undefined if it comes in chunks. */
export function bodyBytes(request: TusRequest): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined
  return countHeader(request, 'content-length') ?? 0
}

/** TUS 1.0.0, Upload-Defer-Length: "Its value MUST be 1." */
export function deferHeader({ headers }: TusRequest): boolean {
  const text = headers['upload-defer-length']
  if (text === undefined) return false
  if (text !== '1') throw new SluiceError('invalid_header', 'Upload-Defer-Length must be 1.')
  return true
}

export const OFFSET_STREAM = 'application/offset+octet-stream'

export function assertOffsetStream({ headers }: TusRequest): void {
  if (headers['content-type']?.trim().toLowerCase() !== OFFSET_STREAM)
    throw new SluiceError('unsupported_media_type', `Content-Type must be ${OFFSET_STREAM}.`)
}

function title(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
