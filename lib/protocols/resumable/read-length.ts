import type { UploadRequest } from '../endpoint/upload-request.ts'
import { countField } from './fields.ts'
import { inconsistentLength } from './problems.ts'

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
