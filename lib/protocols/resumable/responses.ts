import { workspaceSuspended } from '../../identity/suspension.ts'
import { seconds } from '../../platform/kernel/clock.ts'
import { notNow } from '../../platform/kernel/errors.ts'
import type { Accepted } from '../../uploads/append.ts'
import { limitsOfDestinations, maxUploadBytes } from '../../uploads/opening/may-create.ts'
import type { Progress, Upload } from '../../uploads/opening/upload.ts'
import type { CreationRight, UploadContext } from '../../uploads/upload-context.ts'
import type { PublicPipe } from '../../workspace/pipes/read-pipes.ts'
import { offsetWhileOpen } from '../endpoint/decision.ts'
import { describeFile } from '../endpoint/file-response.ts'
import type { UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import {
  limitHeader,
  PARTIAL_UPLOAD,
  type Spoken,
  spokenVersion,
  stateHeaders,
  type Version,
} from './fields.ts'
import { inconsistentLength } from './problems.ts'

/** The response to a creation or an append: the finished file, or the current offset. */
export function appendResponse(
  version: Version,
  upload: { fileId: string; progress: Pick<Progress, 'crc32' | 'lengthBytes'> },
  { offsetBytes, why, state, result }: Accepted,
  about: { complete: boolean; filename: string; location: string; limits: Record<string, string> },
): UploadResponse {
  const { complete, filename, location, limits } = about
  if (state !== 'uploading') {
    const response = describeFile(upload, { offsetBytes, state, result }, { filename, location })
    const complete = state !== 'undecided'
    return {
      ...response,
      headers: { ...response.headers, ...stateHeaders(version, { complete, offsetBytes }) },
    }
  }
  if (why === 'suspended') throw workspaceSuspended()
  if (why !== 'end')
    throw notNow('This request was stopped. Request the offset of the upload and continue immediately.')
  if (complete)
    throw inconsistentLength(
      `Upload-Length is ${upload.progress.lengthBytes}, but the upload ends at ${offsetBytes}.`,
    )
  const headers = stateHeaders(version, { complete: false, offsetBytes })
  return { status: 201, headers: { Location: location, ...headers, ...limits } }
}

/** Upload-Limit for an upload that expires at `untilMs`. */
export function limitsOf(
  context: UploadContext,
  { token, pipe, destinations }: Pick<CreationRight, 'token' | 'pipe' | 'destinations'>,
  version: Version,
  untilMs: number,
): Record<string, string> {
  const limits = limitsOfDestinations(context, destinations)
  const may = { tokenBytes: token.maxBytes, pipeBytes: pipe.maxFileBytes }
  return limitHeader(version, {
    maxBytes: maxUploadBytes(limits, may),
    aliveMs: untilMs - context.clock.now(),
  })
}

/**
 * The headers that show how a Pipe supports Resumable Uploads for HTTP. "the server MUST include the Upload-Limit
 * header field"
 */
export function resumableAbilities(
  { headers }: UploadRequest,
  { uploadExpirySeconds }: PublicPipe,
  maxBytes: number,
): Record<string, string> {
  const limits = limitHeader(spokenVersion(headers), { maxBytes, aliveMs: seconds(uploadExpirySeconds) })
  return { 'Accept-Patch': PARTIAL_UPLOAD, ...limits }
}

const SUPPORTED = 104
const PROGRESS_MS = 1000

/** "MUST NOT send a 104 … when the interop version … is missing or mismatching" */
function sendInterim(request: UploadRequest, version: Spoken, headers: Record<string, string>): boolean {
  if (!version.known || !request.sendInterim) return false
  const draft: Record<string, string> =
    version.interop === null ? {} : { 'Upload-Draft-Interop-Version': String(version.interop) }
  return request.sendInterim(SUPPORTED, { ...draft, ...headers })
}

/** Sends the client the upload's address while it is still sending the body. Returns false if that is not possible. */
export function sendAddress(
  request: UploadRequest,
  version: Spoken,
  headers: { Location: string } & Record<string, string>,
): boolean {
  return sendInterim(request, version, headers)
}

/** Sends the client the confirmed offset while it is still sending the body. Returns a function that stops this. */
export function sendProgress(request: UploadRequest, version: Spoken, upload: Upload): () => void {
  let reported = offsetWhileOpen(upload)
  const report = () => {
    const offsetBytes = offsetWhileOpen(upload)
    if (offsetBytes === reported) return
    reported = offsetBytes
    sendInterim(request, version, { 'Upload-Offset': String(reported) })
  }
  if (!version.progress) return () => {}
  const timer = setInterval(report, PROGRESS_MS)
  return () => clearInterval(timer)
}
