import { isSluiceError, notNow, SluiceError } from '../../platform/kernel/errors.ts'
import type { UploadRequest } from '../endpoint/upload-request.ts'
import { completeness, countField, spokenVersion, stateHeaders } from './fields.ts'

type Refused = Pick<UploadRequest, 'method' | 'headers'>

const TYPES = 'https://iana.org/assignments/http-problem-types#'

export function inconsistentLength(detail: string): SluiceError {
  return new SluiceError('invalid_header', detail, {
    problem: { type: `${TYPES}inconsistent-upload-length` },
  })
}

export function alreadyComplete(): SluiceError {
  return new SluiceError('invalid_request', 'The upload is complete and accepts no more bytes.', {
    problem: { type: `${TYPES}completed-upload` },
  })
}

/** Gives an error the draft's problem type, and a status that makes clients continue or give up as intended. */
export function refusal(error: unknown, request: Refused): unknown {
  if (!isSluiceError(error)) return error
  const { code, message, headers } = error
  // "SHOULD include … Upload-Complete … to indicate whether it is the result of processing the uploaded representation".
  // A hook's rejection is; everything else is refused by the protocol.
  if (request.method === 'PATCH' || completeness(request.headers) !== undefined) {
    const complete = code === 'upload_rejected'
    Object.assign(headers, stateHeaders(spokenVersion(request.headers), { complete }))
  }
  // "A server responding with … 413 … as a result of its upload limits SHOULD include the Upload-Limit header field".
  const maxBytes = headers['Tus-Max-Size']
  if (maxBytes) Object.assign(headers, { 'Upload-Limit': `max-size=${maxBytes}` })
  delete headers['Tus-Max-Size']
  switch (code) {
    case 'offset_conflict':
      return mismatchingOffset(error, request)
    case 'upload_gone':
      // "If the server does not consider the upload resource to be active, it MUST respond with a 404".
      return new SluiceError(code, message, { status: 404, headers })
    case 'upload_locked':
      // Clients give up after a 4xx, so this is reported as a 5xx.
      return notNow(message, headers)
  }
  return error
}

function mismatchingOffset({ message, headers }: SluiceError, request: Refused): SluiceError {
  const members = {
    'expected-offset': Number(headers['Upload-Offset']),
    'provided-offset': countField(request.headers['upload-offset']) ?? 0,
  }
  return new SluiceError('offset_conflict', message, {
    headers,
    problem: { type: `${TYPES}mismatching-upload-offset`, members },
  })
}

/** "If indicators (1) and (2) are both present in the same request, their indicated lengths MUST match." */
export function readLength(
  { headers }: Pick<UploadRequest, 'headers'>,
  { complete, fromBytes, bytes }: { complete: boolean; fromBytes: number; bytes: number | undefined },
): number | undefined {
  const declared = countField(headers['upload-length'])
  const end = bytes === undefined ? undefined : fromBytes + bytes
  if (declared !== undefined && end !== undefined && (complete ? declared !== end : declared < end))
    throw inconsistentLength(`Upload-Length is ${declared}, but the body ends at ${end}.`)
  return declared ?? (complete ? end : undefined)
}
