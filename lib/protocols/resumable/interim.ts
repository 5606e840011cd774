import type { OpenUpload } from '../../uploads/open-upload.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'
import type { Spoken } from './versions.ts'

const SUPPORTED = 104
const PROGRESS_MS = 1000

/** "MUST NOT send a 104 … when the interop version … is missing or mismatching" */
function inform(request: UploadRequest, version: Spoken, headers: Record<string, string>): boolean {
  if (!version.known || !request.inform) return false
  const draft: Record<string, string> =
    version.interop === null ? {} : { 'Upload-Draft-Interop-Version': String(version.interop) }
  return request.inform(SUPPORTED, { ...draft, ...headers })
}

/** Tells the client where the upload is, while it sends. False: it cannot be told before its request has ended. */
export function sendAddress(
  request: UploadRequest,
  version: Spoken,
  headers: { Location: string } & Record<string, string>,
): boolean {
  return inform(request, version, headers)
}

/** Tells the client the confirmed offset while it sends, until the answer is called. */
export function sendProgress(request: UploadRequest, version: Spoken, upload: OpenUpload): () => void {
  let reported = upload.offsetBytes
  const report = () => {
    if (upload.offsetBytes === reported) return
    reported = upload.offsetBytes
    inform(request, version, { 'Upload-Offset': String(reported) })
  }
  if (!version.progress) return () => {}
  const timer = setInterval(report, PROGRESS_MS)
  return () => clearInterval(timer)
}
