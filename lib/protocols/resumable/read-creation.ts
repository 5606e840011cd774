import type { Declared } from '../../uploads/opening/create-upload.ts'
import { NO_BYTES } from '../../uploads/stream/body.ts'
import { contentCheck, wholeFileCheck } from '../endpoint/digest-fields.ts'
import { readName } from '../endpoint/read-name.ts'
import type { Body } from '../endpoint/receive-body.ts'
import { RequestSource } from '../endpoint/request-source.ts'
import { bodyBytes, type UploadRequest } from '../endpoint/upload-request.ts'
import { completeness, isPartialUpload } from './fields.ts'
import { readLength } from './read-length.ts'

/** What a request says about a new file. It is checked before the database is queried. */
export type Creation = {
  declared: Declared & { concat: null }
  /** The file ends with this body. */
  complete: boolean
  /** The client wants to be able to resume. Without Upload-Complete it is an ordinary upload. */
  resumable: boolean
  bytes: number | undefined
  hasBody: boolean
  body: Body
  /**
   * With Content-Digest a body counts entirely or not at all. Repr-Digest is the digest of the file, checked at its
   * end.
   */
  atomic: boolean
}

export function readCreation(request: UploadRequest): Creation {
  const { headers } = request
  const said = completeness(headers)
  const complete = said ?? true
  const bytes = bodyBytes(request)
  const hasBody = complete || bytes !== 0
  const lengthBytes = readLength(request, { complete, fromBytes: 0, bytes }) ?? null
  const source = bytes === 0 ? NO_BYTES : new RequestSource(request.body)
  return {
    declared: {
      filename: readName(request),
      // Here tus-js-client sends the type of the body, which is not that of the file.
      filetype: isPartialUpload(headers) ? null : (headers['content-type'] ?? null),
      lengthBytes,
      uploadMetadata: {},
      uploadMetadataHeader: null,
      concat: null,
      protocol: request.protocol,
    },
    complete,
    resumable: said !== undefined,
    bytes,
    hasBody,
    body: { source, check: complete ? wholeFileCheck(request) : contentCheck(request) },
    atomic: headers['content-digest'] !== undefined,
  }
}
