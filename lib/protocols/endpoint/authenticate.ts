import { workspaceSuspended } from '../../identity/suspension.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { noteRequest } from '../../platform/kernel/request-context.ts'
import { assertNotOff } from '../../uploads/opening/may-create.ts'
import type {
  CreationRight,
  PipeRow,
  UploadContext,
  UploadRight,
  UploadRow,
  WholeRequest,
} from '../../uploads/upload-context.ts'
import { markExposed } from '../../workspace/senders/change-sender.ts'
import { isAllowedOrigin } from './cors.ts'
import { requiredFileId, requiredToken, type UploadRequest } from './upload-request.ts'

export async function authenticateToCreate(
  context: UploadContext,
  request: UploadRequest,
): Promise<CreationRight> {
  const token = await temporaryToken(context, request)
  const right = await context.rights.toCreate(token, request.pipeId, request.protocol)
  noteRequest({ workspaceId: right.token.workspaceId, tokenId: right.token.id })
  assertOrigin(right.pipe, request)
  return right
}

export async function authenticateToContinue(
  context: UploadContext,
  request: UploadRequest,
  whole?: WholeRequest,
): Promise<UploadRight> {
  const fileId = requiredFileId(request)
  const token = await temporaryToken(context, request)
  const at = { pipeId: request.pipeId, fileId }
  const right = await context.rights.toContinue(token, at, whole)
  noteRequest({ workspaceId: right.token.workspaceId, tokenId: right.token.id })
  assertOrigin(right.pipe, request)
  assertProtocol(right.upload, request)
  assertNotOff(right.destinations)
  if (right.suspended && WRITES.has(request.method)) throw workspaceSuspended()
  return right
}

/**
 * Methods that write. The others, which read or end existing uploads, stay allowed: a client that could not request its
 * offset would start over.
 */
const WRITES = new Set(['PATCH', 'POST', 'PUT'])

/**
 * Only accepts `tmp_` tokens. A Sender token at this address was probably sent by a browser, so its owner is warned.
 */
async function temporaryToken({ db, clock }: UploadContext, request: UploadRequest): Promise<string> {
  const token = requiredToken(request)
  if (!token.startsWith('sk_')) return token
  await markExposed(db, token, { origin: request.origin, nowMs: clock.now() })
  throw new SluiceError(
    'sender_token_exposed',
    'A Sender token belongs on a backend. Rotate it now, and give the browser a temporary token.',
  )
}

function assertOrigin({ allowedOrigins }: PipeRow, { origin }: UploadRequest): void {
  if (!isAllowedOrigin(allowedOrigins, origin))
    throw new SluiceError('origin_not_allowed', `This Pipe does not accept uploads from pages on ${origin}.`)
}

const NAMES = {
  tus: 'TUS',
  'resumable-http': 'Resumable Uploads for HTTP',
  http: 'a single HTTP request',
  url: 'an import from a URL',
  sftp: 'SFTP',
  ftps: 'FTPS',
  ftp: 'FTP',
}

/**
 * An upload cannot change its protocol: for example, only TUS treats an upload as complete once its length is reached.
 */
function assertProtocol(
  { protocol: created }: UploadRow,
  { method, protocol, ofResult }: UploadRequest,
): void {
  if (created === protocol || ofResult) return
  if (method === 'HEAD' || method === 'GET')
    throw new SluiceError('upload_not_found', 'There is no such upload for this protocol.')
  throw new SluiceError(
    'other_protocol',
    `The upload was created using ${NAMES[created]} and can only be continued that way.`,
  )
}
