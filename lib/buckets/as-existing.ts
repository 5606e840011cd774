import { BucketError, isBucketError } from './bucket-error.ts'
import type { Capabilities } from './providers.ts'

/** The permission that replacing an object needs on Google Cloud Storage, beside the one to create it. */
const REPLACING = 'storage.objects.delete'

/**
 * The error as `exists`, if the key of the write already has an object; else undefined. Where credentials that may only put
 * are denied replacing, that is a 403 that names the missing permission. If it names none, only a repeated write counts as
 * `exists`: without the permission to create, the first one would have been denied, too.
 */
export function asExisting(
  error: unknown,
  { deniesReplacing }: Pick<Capabilities, 'deniesReplacing'>,
  repeated: boolean,
): BucketError | undefined {
  if (!isBucketError(error)) return undefined
  if (error.kind === 'exists') return error
  if (!deniesReplacing || error.code !== 'AccessDenied') return undefined
  const details = error.told?.details
  const denied = details ? details.includes(REPLACING) : repeated || error.attempts > 1
  if (!denied) return undefined
  const existing = new BucketError('exists', error.code, error.message, { cause: error, told: error.told })
  existing.attempts = error.attempts
  return existing
}
