import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import type { WholeRequest } from '../../uploads/ledger/first-lease.ts'
import type { CreationRight, PipeRow, UploadRight } from '../../uploads/ledger/upload-rights.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { markExposed } from '../../workspace/tokens/mark-exposed.ts'
import { isAllowedOrigin } from './cors.ts'
import { requiredFileId, requiredToken, type TusRequest } from './tus-request.ts'

export async function authenticateToCreate(
  context: UploadContext,
  request: TusRequest,
): Promise<CreationRight> {
  const token = await temporaryToken(context, request)
  const right = await context.rights.toCreate(token, request.pipeId)
  noteRequest({ workspaceId: right.token.workspaceId, tokenId: right.token.id })
  assertOrigin(right.pipe, request)
  return right
}

export async function authenticateToContinue(
  context: UploadContext,
  request: TusRequest,
  whole?: WholeRequest,
): Promise<UploadRight> {
  const fileId = requiredFileId(request)
  const token = await temporaryToken(context, request)
  const at = { pipeId: request.pipeId, fileId }
  const right = await context.rights.toContinue(token, at, whole)
  noteRequest({ workspaceId: right.token.workspaceId, tokenId: right.token.id })
  assertOrigin(right.pipe, request)
  return right
}

/** Only `tmp_`. A Sender's own token here was in a browser, so its owner must hear of it. */
async function temporaryToken({ db, clock }: UploadContext, request: TusRequest): Promise<string> {
  const token = requiredToken(request)
  if (!token.startsWith('sk_')) return token
  await markExposed(db, token, { origin: request.origin, nowMs: clock.now() })
  throw new SluiceError(
    'sender_token_exposed',
    'A Sender token belongs on a backend. Rotate it now, and send the browser a temporary token.',
  )
}

function assertOrigin({ allowedOrigins }: PipeRow, { origin }: TusRequest): void {
  if (!isAllowedOrigin(allowedOrigins, origin))
    throw new SluiceError('origin_not_allowed', `This Pipe takes no uploads from pages of ${origin}.`)
}
