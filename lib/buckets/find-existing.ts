import { BucketError, isBucketError } from './bucket-error.ts'

type Found = { bytes: number; etag: string } | undefined

/**
 * Looks up an object that already exists according to the bucket, and throws if it does not. `etag` is null if the
 * bucket refuses to tell.
 */
export async function findExisting(
  head: () => Promise<Found>,
  { key, bytes }: { key: string; bytes: number },
  existing: BucketError,
): Promise<{ etag: string | null; isFound?: boolean }> {
  const found = await head().catch((error: unknown) => {
    if (isBucketError(error) && error.kind === 'refused') return 'unknown' as const
    throw error
  })
  if (found === 'unknown') return { etag: null }
  if (found?.bytes === bytes) return { etag: found.etag, isFound: true }
  const problem = found ? `it has ${found.bytes} bytes instead of ${bytes}` : 'it cannot be found'
  const message = `According to the bucket, the object ${key} already exists, but ${problem}.`
  throw new BucketError('trouble', existing.code, message, { cause: existing })
}
