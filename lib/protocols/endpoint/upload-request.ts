import type { IncomingMessage } from 'node:http'
import { bearerToken } from '../../platform/http/read-request.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { isPipeId, isUuid } from '../../platform/kernel/ids.ts'
import type { HttpProtocol, UploadContext } from '../../uploads/upload-context.ts'

/** A request to the upload endpoint, with its address parsed and its protocol determined. */
export type UploadRequest = UploadPath & {
  method: string
  protocol: HttpProtocol
  headers: IncomingMessage['headers']
  /**
   * The origin of the customer's page that sent the request. Null for Sluice's own pages, such as upload link pages,
   * which a Pipe's `allowedOrigins` do not restrict.
   */
  origin: string | null
  body: IncomingMessage
  /**
   * Sends an interim response, or returns false if it is too late. Undefined if interim responses may not reach the
   * client.
   */
  sendInterim: ((status: number, headers: Record<string, string>) => boolean) | undefined
}

export type UploadResponse = { status: number; headers: Record<string, string>; body?: string }

export function requiredToken({ headers }: UploadRequest): string {
  const token = bearerToken(headers.authorization)
  if (!token)
    throw new SluiceError('token_missing', 'Send the upload token as `Authorization: Bearer tmp_…`.')
  return token
}

export function requiredFileId({ fileId }: UploadRequest): string {
  if (!fileId)
    throw new SluiceError(
      'method_not_allowed',
      'This is the address for creating uploads: append the id of an upload.',
    )
  return fileId
}

/**
 * A number too large for JavaScript is capped. It is still larger than any provider's limit, and is refused for that
 * reason.
 */
export function countHeader(request: UploadRequest, name: string): number | undefined {
  const text = request.headers[name]
  if (text === undefined) return undefined
  if (typeof text !== 'string' || !/^\d+$/.test(text))
    throw new SluiceError('invalid_header', `${title(name)} must be a non-negative whole number of bytes.`)
  return Math.min(Number(text), Number.MAX_SAFE_INTEGER)
}

/** The length of the body; undefined if the body is chunked. */
export function bodyBytes(request: UploadRequest): number | undefined {
  const coding = request.headers['transfer-encoding']
  // A body with any other transfer coding would be stored as received.
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    throw new SluiceError('invalid_header', 'Transfer-Encoding may only be chunked.')
  if (coding !== undefined) return undefined
  return countHeader(request, 'content-length') ?? 0
}

function title(name: string): string {
  return name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())
}

/**
 * `/pipes/<pipe_id>/files/`, followed by an upload's id or the name of a new file, and optionally `/result` or a
 * trailing slash.
 */
type UploadPath = {
  pipeId: string
  fileId: string | undefined
  name: string | undefined
  /** True for the address of an upload's result, which is the upload's address followed by `/result`. */
  ofResult: boolean
  /** True for `/pipes/<pipe_id>/batches/seal`, where uploaders declare that a batch gets no more files. */
  sealsBatch?: true
}

const RESULT = '/result'

export function parseUploadPath(url: string): UploadPath | undefined {
  const path = url.split('?', 1)[0]!
  const [, sealedAt] = path.match(/^\/pipes\/([^/]+)\/batches\/seal\/?$/) ?? []
  if (sealedAt && isPipeId(sealedAt))
    return { pipeId: sealedAt, fileId: undefined, name: undefined, ofResult: false, sealsBatch: true }
  const [, pipeId, name] = path.match(/^\/pipes\/([^/]+)\/files(?:\/(.+?))?\/?$/) ?? []
  if (!pipeId || !isPipeId(pipeId)) return undefined
  const id = name?.endsWith(RESULT) ? name.slice(0, -RESULT.length) : name
  const fileId = id !== undefined && isUuid(id.toLowerCase()) ? id.toLowerCase() : undefined
  return { pipeId, fileId, name, ofResult: fileId !== undefined && id !== name }
}

export function uploadAddress(uploadUrl: string, pipeId: string, fileId: string): string {
  return `${uploadUrl}/pipes/${pipeId}/files/${fileId}`
}

/** The functions that each protocol provides to the endpoint. */
export type Protocol = {
  /** Headers for every response, including errors. */
  headers: Record<string, string>
  /** The protocol's name in the access log. */
  nameOf(request: UploadRequest): string
  /** Returns undefined if the client has disconnected, because there is nobody left to respond to. */
  handle(
    context: UploadContext,
    uploadUrl: string,
    request: UploadRequest,
  ): Promise<UploadResponse | undefined>
  /** Converts an error for clients of this protocol. */
  refusal?(error: unknown, request: Pick<UploadRequest, 'method' | 'headers'>): unknown
}
