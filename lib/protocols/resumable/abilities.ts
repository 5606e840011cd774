import { seconds } from '../../platform/kernel/clock.ts'
import type { PublicPipe } from '../../workspace/pipes/find-public-pipe.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'
import { PARTIAL_UPLOAD } from './fields.ts'
import { limitHeader } from './state-headers.ts'
import { spokenVersion } from './versions.ts'

/** What a Pipe supports of Resumable Uploads for HTTP. "the server MUST include the Upload-Limit header field" */
export function resumableAbilities(
  { headers }: UploadRequest,
  { uploadExpirySeconds }: PublicPipe,
  maxBytes: number,
): Record<string, string> {
  const limits = limitHeader(spokenVersion(headers), { maxBytes, aliveMs: seconds(uploadExpirySeconds) })
  return { 'Accept-Patch': PARTIAL_UPLOAD, ...limits }
}
