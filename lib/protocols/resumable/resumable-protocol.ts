import { SluiceError } from '../../platform/kernel/errors.ts'
import { METHODS } from '../endpoint/cors.ts'
import { deleteUpload } from '../endpoint/delete-upload.ts'
import type { Protocol } from '../endpoint/protocol.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'
import { appendUpload } from './append-upload.ts'
import { beginUpload } from './begin-upload.ts'
import { refusal } from './problems.ts'
import { reportOffset } from './report-offset.ts'
import { spokenVersion } from './versions.ts'

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
    throw new SluiceError('method_not_allowed', `The methods allowed here are ${METHODS}.`, {
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
