import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { CreationRight } from './upload-rights.ts'

/**
 * The final upload that an earlier request made of these pieces. Joining can be slow and its response can get lost, so
 * a repeated request returns the same file.
 */
export async function findFinal(
  db: Db,
  { token, pipe }: CreationRight,
  asked: { partialIds: readonly string[]; uploadMetadataHeader: string | null },
): Promise<string | null> {
  const partialIds = JSON.stringify(asked.partialIds)
  const [made] = await rows<{ id: string }>(
    db,
    sql`
    select f.id from files p join files f on f.id = p.joined_into
    where p.id = ${asked.partialIds[0]!}::uuid and f.pipe_id = ${pipe.id} and f.sender_id = ${token.senderId}::uuid
      and f.subject is not distinct from ${token.subject} and f.retired_at is null
      and f.status in ('transferring', 'transferred')
      and f.upload_metadata_header is not distinct from ${asked.uploadMetadataHeader}
      and f.concat_parts = (select array_agg(value::uuid order by ordinality)
        from jsonb_array_elements_text(${partialIds}::jsonb) with ordinality)`,
  )
  return made?.id ?? null
}
