import { sql } from 'drizzle-orm'
import type { UploadContext } from './upload-context.ts'

/**
 * The address of a finished upload stops answering. The object and the record stay: they were delivered. A partial upload
 * that is part of no file was not: its object is cleared away.
 */
export async function retireUpload(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
): Promise<void> {
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  await db.execute(sql`
    with finished as (
      select id, concat = 'partial' and joined_into is null as spare from files
      where id = ${fileId}::uuid and status = 'transferred' for update
    ), retired as (
      update files f set retired_at = ${now}, joined_into = null from finished where f.id = finished.id
    )
    update file_destinations d set abort_pending = true, abort_at = ${now}
    from finished where d.file_id = finished.id and finished.spare`)
}
