import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import type { Partial } from '../concat/find-partials.ts'

/** The pieces of a final upload that is still to be made, in order. */
export function readPartials(db: Db, fileIds: readonly string[]): Promise<Partial[]> {
  return rows<Partial>(
    db,
    sql`
    select f.id as "fileId", d.key, f.length_bytes as bytes, f.crc32
    from jsonb_array_elements_text(${JSON.stringify(fileIds)}::jsonb) with ordinality as wanted(id, n)
    join files f on f.id = wanted.id::uuid join file_destinations d on d.file_id = f.id
    order by wanted.n`,
  )
}
