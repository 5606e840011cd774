import { sql } from 'drizzle-orm'
import type { UploadContext } from './upload-context.ts'

/** The address of a finished upload stops answering. The object and the record stay: they were delivered. */
export async function retireUpload(
  { db, clock }: Pick<UploadContext, 'db' | 'clock'>,
  fileId: string,
): Promise<void> {
  const now = new Date(clock.now()).toISOString()
  await db.execute(
    sql`update files set retired_at = ${now}::timestamptz, joined_into = null where id = ${fileId}::uuid and status = 'transferred'`,
  )
}
