import { S3Error } from './s3-error.ts'

/** Of a write, this bucket takes `If-None-Match: *` and says so where it is asked for another condition. */
export function requiresAbsence(headers: Record<string, string>): boolean {
  if (headers['if-match'] !== undefined)
    throw new S3Error('NotImplemented', 'If-Match on a write is not implemented.')
  const condition = headers['if-none-match']
  if (condition !== undefined && condition !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match on a write takes * only.')
  }
  return condition === '*'
}
