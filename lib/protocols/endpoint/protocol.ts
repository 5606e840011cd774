import type { UploadContext } from '../../uploads/upload-context.ts'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

/** What the endpoint needs of each of its protocols. */
export type Protocol = {
  /** For every response, including errors. */
  headers: Record<string, string>
  /** For the access log. */
  nameOf(request: UploadRequest): string
  /** Undefined if the client has disconnected, so that there is nobody to respond to. */
  handle(
    context: UploadContext,
    uploadUrl: string,
    request: UploadRequest,
  ): Promise<UploadResponse | undefined>
  /** Turns an error into one that clients of this protocol understand. */
  refusal?(error: unknown, request: Pick<UploadRequest, 'method' | 'headers'>): unknown
}
