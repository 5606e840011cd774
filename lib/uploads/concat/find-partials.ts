import { sql } from 'drizzle-orm'
import { rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { CreationRight } from '../ledger/upload-rights.ts'
import type { UploadContext } from '../upload-context.ts'

/** A finished partial upload: an object of its own until the final one has been made of it. */
export type Partial = { fileId: string; key: string; bytes: number; crc32: number }

/** In the order of `fileIds`. Only one's own partial uploads, all finished, can be joined. */
export async function findPartials(
  { db }: Pick<UploadContext, 'db'>,
  { token, pipe, dataStore }: CreationRight,
  fileIds: readonly string[],
): Promise<Partial[]> {
  const found = await rows<Partial>(
    db,
    sql`
    select f.id as "fileId", d.key, f.length_bytes as bytes, f.crc32
    from files f join file_destinations d on d.file_id = f.id
    where f.id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(fileIds)}::jsonb))
      and f.pipe_id = ${pipe.id} and d.data_store_id = ${dataStore.id}::uuid and f.sender_id = ${token.senderId}::uuid
      and f.subject is not distinct from ${token.subject} and f.concat = 'partial' and f.status = 'transferred'
      and f.retired_at is null`,
  )
  const byId = new Map(found.map((partial) => [partial.fileId, partial]))
  return fileIds.map((fileId) => {
    const partial = byId.get(fileId)
    if (!partial)
      throw new SluiceError(
        'invalid_header',
        `Upload-Concat names ${fileId}, which is no finished partial upload.`,
      )
    return partial
  })
}
