import { TUS_RESUMABLE } from '@tus/server'
import { mayConcatenate } from '../../concatenation/may-concatenate.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { toldProgress } from '../../uploads/rules/decision.ts'
import type { UploadContext, UploadRow } from '../../uploads/upload-context.ts'
import type { PublicPipe } from '../../workspace/pipes/read-pipes.ts'
import { METHODS } from '../endpoint/cors.ts'
import { resultHeader } from '../endpoint/decision.ts'
import { deleteUpload, lookUp } from '../endpoint/look-up.ts'
import type { Protocol, UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import { getLanes } from './lanes.ts'
import { patchUpload } from './patch-upload.ts'
import { postUpload } from './post-upload.ts'
import { ALGORITHMS, expiresHeader } from './tus-headers.ts'

/** TUS 1.0.0 (https://tus.io/protocols/resumable-upload). Each method has its own file. */
export const tusProtocol: Protocol = {
  headers: { 'Tus-Resumable': TUS_RESUMABLE },
  nameOf: () => `tus ${TUS_RESUMABLE}`,
  async handle(context, uploadUrl, request) {
    // "the Server MUST respond with the 412 Precondition Failed status and MUST include the Tus-Version header".
    if (request.method !== 'GET' && request.headers['tus-resumable'] !== TUS_RESUMABLE)
      throw new SluiceError('version_not_supported', `Send Tus-Resumable: ${TUS_RESUMABLE}.`, {
        headers: { 'Tus-Version': TUS_RESUMABLE },
      })
    switch (request.method) {
      case 'POST':
        return postUpload(context, uploadUrl, request)
      case 'HEAD':
        return headUpload(context, request)
      case 'GET':
        return getLanes(context, uploadUrl, request)
      case 'PATCH':
        return patchUpload(context, request)
      case 'DELETE':
        return deleteUpload(context, request)
    }
    throw new SluiceError('method_not_allowed', `This address allows the methods ${METHODS}.`, {
      headers: { Allow: METHODS },
    })
  },
}

async function headUpload(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const { upload } = await lookUp(context, request)
  // Chromium repeats a request by itself if the connection it reused is reset, from the request's first byte.
  const close = upload.laneOf && { Connection: 'close' }
  return { status: 200, headers: { ...describe(upload), ...close } }
}

function describe(upload: UploadRow): Record<string, string> {
  const { uploadMetadataHeader, status } = upload
  const { offsetBytes, lengthBytes } = toldProgress(upload)
  return {
    'Upload-Offset': String(offsetBytes),
    ...resultHeader(upload.decision?.result),
    ...(lengthBytes === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(lengthBytes) }),
    ...(uploadMetadataHeader !== null && { 'Upload-Metadata': uploadMetadataHeader }),
    ...concatHeaderOf(upload),
    ...(upload.lanes && { 'Upload-Lanes': String(upload.lanes.length) }),
    ...(status === 'uploading' && expiresHeader(upload.expiresAtMs)),
    'Cache-Control': 'no-store',
  }
}

/** Concatenation: "MUST include the Upload-Concat header and its value as received". */
function concatHeaderOf({ concat, concatHeader }: UploadRow): Record<string, string> {
  return concat === null ? {} : { 'Upload-Concat': concatHeader ?? concat }
}

const TUS_VERSION = '1.0.0'

const EXTENSIONS = [
  'creation',
  'creation-with-upload',
  'creation-defer-length',
  'termination',
  'expiration',
  'checksum',
  'checksum-trailer',
]

/** The TUS features that a Pipe supports. */
export function tusAbilities(
  context: UploadContext,
  pipe: PublicPipe,
  maxBytes: number,
): Record<string, string> {
  const extensions = mayConcatenate(context, pipe, pipe.destinations)
    ? [...EXTENSIONS, 'concatenation']
    : EXTENSIONS
  return {
    'Tus-Version': TUS_VERSION,
    'Tus-Extension': extensions.join(','),
    'Tus-Checksum-Algorithm': ALGORITHMS.join(','),
    'Tus-Max-Size': String(maxBytes),
  }
}
