import type { Call } from './call.ts'
import { S3Error } from './s3-error.ts'

/** Who may not list a bucket must not learn that a key is free: S3 says 403 to them, not 404. */
export function missingKey({ permits, request }: Call): S3Error {
  return permits('s3:ListBucket')
    ? new S3Error('NoSuchKey', undefined, { Key: request.key })
    : new S3Error('AccessDenied')
}
