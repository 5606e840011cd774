import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { CreationRight } from './upload-rights.ts'

/** A finished partial upload: a separate object until it has been joined. */
export type PartialObject = { fileId: string; key: string; bytes: number; crc32: number }

/** The pieces of a final upload that has no object yet, in order. */
export function readPartials(db: Db, fileIds: readonly string[]): Promise<PartialObject[]> {
  return rows<PartialObject>(
    db,
    sql`
    select f.id as "fileId", d.key, f.length_bytes as bytes, f.crc32
    from jsonb_array_elements_text(${JSON.stringify(fileIds)}::jsonb) with ordinality as wanted(id, n)
    join files f on f.id = wanted.id::uuid join file_destinations d on d.file_id = f.id
    order by wanted.n`,
  )
}

/** Those of the given partial uploads that this token may join. */
export function readFinishedPartials(
  db: Db,
  { token, pipe, dataStore }: CreationRight,
  fileIds: readonly string[],
): Promise<PartialObject[]> {
  return rows<PartialObject>(
    db,
    sql`
    select f.id as "fileId", d.key, f.length_bytes as bytes, f.crc32
    from files f join file_destinations d on d.file_id = f.id
    where f.id in (select value::uuid from jsonb_array_elements_text(${JSON.stringify(fileIds)}::jsonb))
      and f.pipe_id = ${pipe.id} and d.data_store_id = ${dataStore.id}::uuid and f.sender_id = ${token.senderId}::uuid
      and f.subject is not distinct from ${token.subject} and f.concat = 'partial' and f.status = 'transferred'
      and f.retired_at is null`,
  )
}
