import { SluiceError } from '../platform/kernel/errors.ts'
import type { Bucket } from '../uploads/bucket-port.ts'
import type { PipeDestination } from '../uploads/ledger/upload-rights.ts'
import { openBucketOf } from '../uploads/opening/open-bucket-of.ts'
import type { CreationRight } from '../uploads/upload-context.ts'

type Context = Parameters<typeof openBucketOf>[0]

/**
 * Concatenation copies within each bucket, reads ranges that are too small to copy, and deletes the pieces, so the
 * credentials must allow reading and deleting. Not every provider can copy parts, and if all parts must have the same
 * size, pieces of arbitrary sizes cannot become parts.
 */
export function mayConcatenate(
  context: Context,
  { verifyContent, computeSha256 }: { verifyContent: boolean; computeSha256: boolean },
  destinations: readonly Pick<PipeDestination, 'dataStore' | 'required'>[],
): boolean {
  if (verifyContent || computeSha256) return false
  return destinations.every((one) => mayUse(one) && mayCopyParts(openBucketOf(context, one)))
}

const mayUse = ({ dataStore }: Pick<PipeDestination, 'dataStore'>) => dataStore.mayRead && dataStore.mayDelete

const mayCopyParts = ({ capabilities }: Pick<Bucket, 'capabilities'>) =>
  capabilities.copyParts && !capabilities.equalParts

/** A right to create an upload, of a piece or of the whole. */
export function assertMayConcatenate(
  context: Context,
  { pipe, destinations }: Pick<CreationRight, 'pipe' | 'destinations'>,
): void {
  if (mayConcatenate(context, pipe, destinations)) return
  throw new SluiceError(
    'invalid_header',
    `Uploads cannot be joined on this Pipe: ${whyNot()}. Send the file as one upload.`,
  )

  function whyNot(): string {
    const which = destinations.length > 1 ? 'a' : 'the'
    if (pipe.verifyContent) return 'the Pipe verifies the content of entire files'
    if (pipe.computeSha256) return 'the Pipe computes the SHA-256 of entire files'
    if (destinations.every((one) => mayCopyParts(openBucketOf(context, one))))
      return `the credentials of ${which} Data Store do not allow reading and deleting`
    return `${which} bucket cannot copy pieces of arbitrary sizes as parts`
  }
}
