import { SluiceError } from '../../platform/kernel/errors.ts'
import { toldProgress } from '../../uploads/rules/decision.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { METHODS } from '../endpoint/cors.ts'
import { resultHeader } from '../endpoint/decision.ts'
import { deleteUpload, lookUp } from '../endpoint/look-up.ts'
import type { Protocol, UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import { appendUpload } from './append-upload.ts'
import { beginUpload } from './begin-upload.ts'
import { spokenVersion, stateHeaders } from './fields.ts'
import { refusal } from './problems.ts'
import { limitsOf } from './responses.ts'

/** Resumable Uploads for HTTP (draft-ietf-httpbis-resumable-upload), which iOS supports natively. */
export const resumableProtocol: Protocol = {
  headers: {},
  nameOf: ({ headers }) => `resumable-http ${spokenVersion(headers).interop ?? ''}`.trimEnd(),
  refusal,
  async handle(context, uploadUrl, request) {
    switch (request.method) {
      case 'POST':
      case 'PUT':
        return beginUpload(context, uploadUrl, request)
      case 'HEAD':
      case 'GET':
        assertBare(request, ['upload-offset', 'upload-complete', 'upload-incomplete', 'upload-length'])
        return reportOffset(context, request)
      case 'PATCH':
        return appendUpload(context, uploadUrl, request)
      case 'DELETE':
        assertBare(request, ['upload-offset', 'upload-complete', 'upload-incomplete'])
        return deleteUpload(context, request)
    }
    throw new SluiceError('method_not_allowed', `This address allows the methods ${METHODS}.`, {
      headers: { Allow: METHODS },
    })
  },
}

/** Up to interop version 6: "The server MUST reject the request with … 400 (Bad Request)". */
function assertBare({ method, headers }: UploadRequest, names: string[]): void {
  if (!spokenVersion(headers).bareOnly) return
  const found = names.find((name) => headers[name] !== undefined)
  if (found) throw new SluiceError('invalid_header', `${method} must not have ${found}.`)
}

/** Offset Retrieval. An upload that has reached its length is not complete until its client says so. */
async function reportOffset(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const version = spokenVersion(request.headers)
  const right = await lookUp(context, request)
  const { status, expiresAtMs } = right.upload
  const { offsetBytes, lengthBytes } = toldProgress(right.upload)
  const complete = status !== 'uploading' && offsetBytes === lengthBytes
  return {
    status: 204,
    headers: {
      ...stateHeaders(version, { complete, offsetBytes, lengthBytes }),
      ...resultHeader(right.upload.decision?.result),
      ...limitsOf(context, right, version, expiresAtMs),
      'Cache-Control': 'no-store',
    },
  }
}
