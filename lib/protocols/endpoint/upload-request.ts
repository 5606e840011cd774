import type { IncomingMessage } from 'node:http'
import type { FileProtocol } from '#drizzle/schema/index.ts'
import { bearerToken } from '../../platform/http/bearer.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { UploadPath } from './upload-path.ts'

/** A request to the upload endpoint: its line is read, and its headers have told its protocol. */
export type UploadRequest = UploadPath & {
  method: string
  protocol: FileProtocol
  headers: IncomingMessage['headers']
  origin: string | null
  body: IncomingMessage
  /** Sends an interim answer; false if it is too late. Undefined where the way to the client is not known to carry one. */
  inform: ((status: number, headers: Record<string, string>) => boolean) | undefined
}

export type UploadResponse = { status: number; headers: Record<string, string>; body?: string }

export function requiredToken({ headers }: UploadRequest): string {
  const token = bearerToken(headers.authorization)
  if (!token)
    throw new SluiceError('token_missing', 'Send the upload token as `Authorization: Bearer tmp_…`.')
  return token
}

export function requiredFileId({ fileId }: UploadRequest): string {
  if (!fileId) throw new SluiceError('method_not_allowed', 'That is the address of all uploads of this Pipe.')
  return fileId
}

/** A number above what JavaScript counts exactly stays above the largest object of any provider, and is refused as such. */
export function countHeader(request: UploadRequest, name: string): number | undefined {
  const text = request.headers[name]
  if (text === undefined) return undefined
  if (typeof text !== 'string' || !/^\d+$/.test(text))
    throw new SluiceError('invalid_header', `${title(name)} must be a whole number of bytes, not negative.`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** The bytes that the body will have; undefined if it comes in chunks. */
export function bodyBytes(request: UploadRequest): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined
  return countHeader(request, 'content-length') ?? 0
}

function title(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}
