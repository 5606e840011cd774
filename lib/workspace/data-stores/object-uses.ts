import { sql } from 'drizzle-orm'
import type { PipeObject } from '#drizzle/schema/index.ts'
import type { ObjectUse } from '../../buckets/probe-bucket.ts'
import { type Db, rows } from '../../platform/db/database.ts'
import { PIPE_DESTINATIONS } from '../pipes/destinations.ts'
import { objectOf } from '../pipes/object-settings.ts'

/** How the check names what it tried. */
export const useNameOf = (pipeName: string) => `Object settings of ${pipeName}`

/** A check has nine seconds for everything. */
const AT_MOST = 10

/** What the Pipes of a Data Store set on their objects, as the check of the Data Store tries it. */
export async function readObjectUses(db: Db, dataStoreId: string, nowMs: number): Promise<ObjectUse[]> {
  const found = await rows<{ id: string; name: string; object: PipeObject }>(
    db,
    sql`select p.id, p.name, p.object from ${PIPE_DESTINATIONS} d join pipes p on p.id = d.pipe_id
      where d.data_store_id = ${dataStoreId}::uuid and p.deleted_at is null and p.object is not null
      order by p.created_at, p.id limit ${AT_MOST}::int`,
  )
  return found.flatMap(({ id, name, object: set }) => {
    const facts = {
      fileId: id,
      filename: 'check.txt',
      folder: '',
      sender: 'check',
      pipeId: id,
      at: new Date(nowMs),
    }
    const object = objectOf(set, null, facts)
    return object ? [{ name: useNameOf(name), object }] : []
  })
}
