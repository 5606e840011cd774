import type { UploadContext } from '../../uploads/upload-context.ts'
import type { UploadRequest, UploadResponse } from './upload-request.ts'

/** What the endpoint has to know of each of its protocols. */
export type Protocol = {
  /** On every answer, refusals included. */
  headers: Record<string, string>
  /** For the access log. */
  nameOf(request: UploadRequest): string
  /** Undefined: the client is gone, and there is nobody to answer. */
  handle(
    context: UploadContext,
    uploadUrl: string,
    request: UploadRequest,
  ): Promise<UploadResponse | undefined>
  /** What its clients are told of an error, where that is not what it says itself. */
  refusal?(error: unknown, request: Pick<UploadRequest, 'method' | 'headers'>): unknown
}
