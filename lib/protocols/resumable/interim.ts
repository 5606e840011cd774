import type { Upload } from '../../uploads/opening/upload.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'
import type { Spoken } from './versions.ts'

const SUPPORTED = 104
const PROGRESS_MS = 1000

/** "MUST NOT send a 104 … when the interop version … is missing or mismatching" */
function sendInterim(request: UploadRequest, version: Spoken, headers: Record<string, string>): boolean {
  if (!version.known || !request.sendInterim) return false
  const draft: Record<string, string> =
    version.interop === null ? {} : { 'Upload-Draft-Interop-Version': String(version.interop) }
  return request.sendInterim(SUPPORTED, { ...draft, ...headers })
}

/** Sends the client the address of the upload while it is still sending the body. False if that is not possible. */
export function sendAddress(
  request: UploadRequest,
  version: Spoken,
  headers: { Location: string } & Record<string, string>,
): boolean {
  return sendInterim(request, version, headers)
}

/** Sends the client the confirmed offset while it is still sending the body. Returns a function that stops this. */
export function sendProgress(request: UploadRequest, version: Spoken, upload: Upload): () => void {
  let reported = upload.progress.offsetBytes
  const report = () => {
    if (upload.progress.offsetBytes === reported) return
    reported = upload.progress.offsetBytes
    sendInterim(request, version, { 'Upload-Offset': String(reported) })
  }
  if (!version.progress) return () => {}
  const timer = setInterval(report, PROGRESS_MS)
  return () => clearInterval(timer)
}
