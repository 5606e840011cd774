import { isBucketError } from './bucket-error.ts'
import type { ProbeOperations } from './probe-operations.ts'
import type { Capabilities } from './providers.ts'

/** What to try if a bucket refuses an assumed capability. */
const OTHERWISE = {
  bodyChecksum: ['crc32', 'md5', null],
  fullObjectCrc32: [false],
  ifNoneMatch: [false],
  ifNoneMatchOnComplete: [false],
} as const satisfies { [Name in keyof Capabilities]?: readonly Capabilities[Name][] }

type Findable = keyof typeof OTHERWISE

/** Error codes that mean a missing or unsupported header, or a checksum mismatch. */
const TELLING = new Set([
  ...['InvalidRequest', 'InvalidArgument', 'NotImplemented', 'MissingContentMD5', 'InvalidDigest'],
  ...['XAmzContentChecksumMismatch', 'InvalidPart', 'BadDigest', 'BadRequest', 'HTTP 400', 'HTTP 501'],
])

/**
 * Tries an operation with the assumed capabilities. If it is refused because of its headers, tries others, and assumes from
 * then on what worked. A capability that works is never changed: uploads that have begun rely on it.
 */
export async function findCapabilities<T>(
  bucket: ProbeOperations,
  names: readonly Findable[],
  operation: () => Promise<T>,
): Promise<T> {
  const assumed = bucket.capabilities
  const [first, ...others] = combinations(assumed, names)
  let refusal: unknown
  for (const capabilities of [first!, ...others]) {
    bucket.assume(capabilities)
    try {
      return await operation()
    } catch (error) {
      refusal ??= error
      if (!isBucketError(error) || !TELLING.has(error.code)) break
    }
  }
  bucket.assume(assumed)
  throw refusal
}

/** The assumed capabilities come first. */
function combinations(assumed: Capabilities, names: readonly Findable[]): Capabilities[] {
  return names.reduce<Capabilities[]>(
    (sets, name) => {
      const values = [...new Set<unknown>([assumed[name], ...OTHERWISE[name]])]
      return values.flatMap((value) => sets.map((set) => ({ ...set, [name]: value })))
    },
    [assumed],
  )
}
