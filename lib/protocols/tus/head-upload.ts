import type { UploadRow } from '../../uploads/ledger/upload-rights.ts'
import type { UploadContext } from '../../uploads/upload-context.ts'
import { lookUp } from '../endpoint/look-up.ts'
import type { UploadRequest, UploadResponse } from '../endpoint/upload-request.ts'
import { expiresHeader } from './tus-headers.ts'

export async function headUpload(context: UploadContext, request: UploadRequest): Promise<UploadResponse> {
  const { upload } = await lookUp(context, request)
  return { status: 200, headers: describe(upload) }
}

function describe(upload: UploadRow): Record<string, string> {
  const { lengthBytes, uploadMetadataHeader, status } = upload
  return {
    'Upload-Offset': String(upload.offsetBytes),
    ...(lengthBytes === null ? { 'Upload-Defer-Length': '1' } : { 'Upload-Length': String(lengthBytes) }),
    ...(uploadMetadataHeader !== null && { 'Upload-Metadata': uploadMetadataHeader }),
    ...concatHeaderOf(upload),
    ...(status === 'uploading' && expiresHeader(upload.expiresAtMs)),
    'Cache-Control': 'no-store',
  }
}

/** Concatenation: "MUST include the Upload-Concat header and its value as received". */
function concatHeaderOf({ concat, concatHeader }: UploadRow): Record<string, string> {
  return concat === null ? {} : { 'Upload-Concat': concatHeader ?? concat }
}
