import { SluiceError } from '../../platform/kernel/errors.ts'
import { type PartialObject, readFinishedPartials } from '../ledger/read-partials.ts'
import type { CreationRight } from '../ledger/upload-rights.ts'
import type { UploadContext } from '../upload-context.ts'

/** Returns the partial uploads in the order of `fileIds`. All must be finished, and belong to the client. */
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
    return partial
  })
}
