import { contentTypeOf } from '../media-types/content-type.ts'
import { isSluiceError, notNow, SluiceError } from '../platform/kernel/errors.ts'
import { within } from '../platform/kernel/waits.ts'
import type { CreationRight } from '../uploads/ledger/upload-rights.ts'
import { admit } from '../uploads/opening/admit.ts'
import { type Declared, describeNew } from '../uploads/opening/create-upload.ts'
import { openBucketOf } from '../uploads/opening/open-bucket-of.ts'
import { checksumMismatch, NO_CHECKSUMS } from '../uploads/rules/checksums.ts'
import { inBackground, type UploadContext } from '../uploads/upload-context.ts'
import { concatenate, totalOf } from './concatenate.ts'
import { assertMayConcatenate } from './may-concatenate.ts'
import { findFinal, insertFinal, type PartialObject, readFinishedPartials } from './partials.ts'

type Pieces = { partialIds: readonly string[]; concatHeader: string }
type DeclaredFinal = Declared & { concat: 'final' }

/**
 * Joins finished partial uploads. If the bucket is slow, the client gets its response before the object exists, which
 * is safe because every byte is durable.
 */
export async function createFinal(
  context: UploadContext,
  right: CreationRight,
  declared: DeclaredFinal,
  pieces: Pieces,
): Promise<{ fileId: string }> {
  const { uploadMetadataHeader } = declared
  const findMade = () => findFinal(context.db, right, { ...pieces, uploadMetadataHeader })
  const before = await findMade()
  if (before) return { fileId: before }
  try {
    return await join(context, right, declared, pieces)
  } catch (error) {
    // An earlier request for the same file may have joined the pieces.
    const meanwhile = isSluiceError(error) ? await findMade() : null
    if (meanwhile) return { fileId: meanwhile }
    throw error
  }
}

async function join(
  context: UploadContext,
  right: CreationRight,
  declared: DeclaredFinal,
  pieces: Pieces,
): Promise<{ fileId: string }> {
  const { leases, db, terms, emitCreated } = context
  assertMayConcatenate(context, right)
  const buckets = right.destinations.map((one) => openBucketOf(context, one))
  const partials = await findPartials(context, right, pieces.partialIds)
  const whole = totalOf(partials)
  const mismatch = checksumMismatch(declared.checksums ?? NO_CHECKSUMS, { ...whole, sha256: null })
  if (mismatch) throw mismatch
  const admitted = await admit(context, right, { ...declared, lengthBytes: whole.bytes })
  const made = describeNew(context, admitted, buckets)
  const claim = leases.newClaim()
  const options = { claim, nowMs: made.createdAtMs, emitCreated }
  if (!(await insertFinal(db, { ...made, ...pieces, ...whole }, options)))
    throw new SluiceError('invalid_header', 'Another request has just joined these partial uploads.')
  context.checkpoint('upload created')
  const { fileId, object, destinations } = made
  if (made.isGated) return { fileId }
  const contentType = contentTypeOf(declared.filetype)
  const joining = concatenate(context, {
    fileId,
    partials,
    lease: leases.adopt({ ...claim, rowId: fileId, fence: 1 }),
    places: destinations.map(({ dataStoreId, key, required }, n) => ({
      dataStoreId,
      required,
      mayRead: true,
      bucket: buckets[n]!,
      target: { key, contentType, object },
      leftMultipartId: null,
    })),
  })
  inBackground(context, joining)
  const outcome = await within(terms.assembleMs, joining)
  if (outcome !== 'late' && outcome.kind === 'failed') throw outcome.error
  return { fileId }
}

/**
 * Returns the partial uploads in the order of `fileIds`. All must be finished and belong to the client. A piece is
 * reported as complete once all its bytes are durable, so its object may not exist yet. The client is then asked to try
 * again.
 */
export async function findPartials(
  { db }: Pick<UploadContext, 'db'>,
  right: CreationRight,
  fileIds: readonly string[],
): Promise<PartialObject[]> {
  const found = await readFinishedPartials(db, right, fileIds)
  const byId = new Map(found.map((partial) => [partial.fileId, partial]))
  return fileIds.map((fileId) => {
    const partial = byId.get(fileId)
    if (!partial)
      throw new SluiceError(
        'invalid_header',
        `Upload-Concat names ${fileId}, which is not a finished partial upload.`,
      )
    if (!partial.isMade)
      throw notNow(
        `The bucket has not accepted partial upload ${fileId} yet, although all its bytes have arrived. Try again.`,
      )
    return partial
  })
}
