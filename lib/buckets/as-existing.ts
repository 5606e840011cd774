import { BucketError, isBucketError } from './bucket-error.ts'
import type { Capabilities } from './providers.ts'

/** What replacing an object takes on Google Cloud Storage, beside the permission to create one. */
const REPLACING = 'storage.objects.delete'

/**
 * The fault of a write to a key where an object is already, or undefined. Where keys that may only put are denied
 * replacing, that is a 403, which names the permission that is missing; if it names none, it is one only if the write was
 * sent before, since the first would have been denied, too.
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
