import { sql } from 'drizzle-orm'
import { rows } from '../db/database.ts'
import { endUpload } from './end-upload.ts'
import type { UploadContext } from './upload-context.ts'

const BATCH = 100

/** Ends uploads that were not finished in time. One that somebody is writing is never among them. */
export async function expireUploads(
  context: Pick<UploadContext, 'db' | 'clock' | 'announce' | 'metrics'>,
): Promise<number> {
  const due = await rows<{ id: string }>(
    context.db,
    sql`select id from files where status = 'uploading'
        and expires_at <= ${new Date(context.clock.now()).toISOString()}::timestamptz
        and (lease_until is null or lease_until < now())
      order by expires_at limit ${BATCH}::int`,
  )
  let ended = 0
  for (const { id } of due) {
    const end = { status: 'expired', reason: 'It was not finished in time.', from: ['uploading'] } as const
    if (await endUpload(context, id, end)) ended += 1
  }
  return ended
}
