import { SluiceError } from '../platform/kernel/errors.ts'
import { maxUploadBytes } from '../uploads/opening/may-create.ts'
import { partLimits } from '../uploads/rules/part-plan.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { findPublicPipe } from '../workspace/pipes/find-public-pipe.ts'
import { isAllowedOrigin, METHODS, preflight } from './endpoint/cors.ts'
import type { UploadRequest, UploadResponse } from './endpoint/upload-request.ts'
import { resumableAbilities } from './resumable/abilities.ts'
import { tusAbilities } from './tus/abilities.ts'

/**
 * The response to OPTIONS: what this Pipe supports, and whether a page of another origin may use it. No token is
 * needed.
 */
export async function optionsResponse(
  context: UploadContext,
  request: UploadRequest,
): Promise<UploadResponse> {
  const pipe = await findPublicPipe(context.db, request.pipeId)
  if (!pipe) throw new SluiceError('pipe_not_found', 'There is no such Pipe.')
  const bucket = context.openBucket(pipe.dataStore)
  const limits = partLimits(bucket.capabilities, context.budget.maxPartBytes)
  const maxBytes = maxUploadBytes(limits, { tokenBytes: null, pipeBytes: pipe.maxFileBytes })
  const asked = request.headers['access-control-request-method'] !== undefined
  const cors = asked && preflight(request.origin, isAllowedOrigin(pipe.allowedOrigins, request.origin))
  // 200 rather than 204, which TUS also allows: the system client of iOS accepts nothing else.
  const abilities = {
    ...tusAbilities(pipe, bucket, maxBytes),
    ...resumableAbilities(request, pipe, maxBytes),
  }
  return { status: 200, headers: { Allow: METHODS, ...abilities, ...cors } }
}
