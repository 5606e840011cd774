import { SluiceError } from '../../platform/kernel/errors.ts'
import { mayConcatenate } from '../../uploads/concat/may-concatenate.ts'
import { maxUploadBytes } from '../../uploads/may-create.ts'
import { partLimits } from '../../uploads/part-plan.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { findPublicPipe, type PublicPipe } from '../../workspace/pipes/find-public-pipe.ts'
import { ALGORITHMS } from './checksum.ts'
import { isAllowedOrigin, preflight } from './cors.ts'
import type { TusAnswer, TusRequest } from './tus-request.ts'

export const TUS_VERSION = '1.0.0'

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'termination',
  'expiration',
  'checksum',
  'checksum-trailer',
]

/** What this Pipe can do, and leave for a page of another origin to do it. Neither needs a token. */
export async function answerOptions(context: UploadContext, request: TusRequest): Promise<TusAnswer> {
  const pipe = await findPublicPipe(context.db, request.pipeId)
  if (!pipe) throw new SluiceError('pipe_not_found', 'There is no such Pipe.')
  const asked = request.headers['access-control-request-method'] !== undefined
  const cors = asked && preflight(request.origin, isAllowedOrigin(pipe.allowedOrigins, request.origin))
  // TUS allows 204 as well; the system client of iOS takes nothing but 200.
  return { status: 200, headers: { ...abilities(context, pipe), ...cors } }
}

function abilities(context: UploadContext, { dataStore, maxFileBytes }: PublicPipe): Record<string, string> {
  const bucket = context.openBucket(dataStore)
  const limits = partLimits(bucket.capabilities, context.budget.limitBytes)
  const extensions = mayConcatenate(dataStore, bucket) ? [...EXTENSIONS, 'concatenation'] : EXTENSIONS
  return {
    'Tus-Version': TUS_VERSION,
    'Tus-Extension': extensions.join(','),
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
    'Tus-Max-Size': String(maxUploadBytes(limits, { tokenBytes: null, pipeBytes: maxFileBytes })),
  }
}
