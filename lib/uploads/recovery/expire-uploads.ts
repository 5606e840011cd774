import { sql } from 'drizzle-orm'
import { rows } from '../../platform/db/database.ts'
import { hours } from '../../platform/kernel/clock.ts'
import { endUpload } from '../end-upload.ts'
import type { UploadContext } from '../upload-context.ts'

const BATCH = 100
/** Those of a bucket that keeps what is unfinished for less long end earlier. */
const MAX_AGE_DAYS = 30

/** Ends uploads that were not finished in time: never one that somebody is writing, or that has all its bytes. */
export async function expireUploads(
  context: Pick<UploadContext, 'db' | 'clock' | 'announce' | 'metrics'>,
): Promise<number> {
  const late = sql`expires_at <= ${new Date(context.clock.now()).toISOString()}::timestamptz
    and (lease_until is null or lease_until < now()) and offset_bytes is distinct from length_bytes`
  const due = await rows<{ id: string; droppedAfterHours: number | null }>(
    context.db,
    sql`select id, case when expires_at = expires_by and expires_by < created_at + ${MAX_AGE_DAYS}::int * interval '1 day'
      then floor(extract(epoch from expires_by - created_at) / 3600)::int end as "droppedAfterHours"
    from files where status = 'uploading' and ${late} order by expires_at limit ${BATCH}::int`,
  )
  let ended = 0
  for (const { id, droppedAfterHours } of due) {
    const reason = droppedAfterHours
      ? `It was not finished within ${droppedAfterHours} hours of its start, and its bucket drops what is unfinished for longer.`
      : 'It was not finished in time.'
    const end = { status: 'expired', reason, from: ['uploading'], provided: late } as const
    if (await endUpload(context, id, end)) ended += 1
  }
  return ended + (await retirePartials(context))
}

/** After the last byte of all partial uploads of their token: then nobody is going to join them. */
const UNJOINED_MS = hours(6)

/** Finished partial uploads that nobody joined in time: their objects are cleared away. */
async function retirePartials({ db, clock }: Pick<UploadContext, 'db' | 'clock'>): Promise<number> {
  const now = new Date(clock.now()).toISOString()
  const idleSince = new Date(clock.now() - UNJOINED_MS).toISOString()
  const retired = await rows(
    db,
    sql`
    with late as (
      select id from files p where concat = 'partial' and status = 'transferred' and retired_at is null
        and (expires_at <= ${now}::timestamptz or not exists (
          select from files s where s.concat = 'partial' and s.retired_at is null and s.token_id = p.token_id
            and coalesce(s.last_byte_at, s.created_at) > ${idleSince}::timestamptz))
      limit ${BATCH}::int for update skip locked
    ), retired as (update files f set retired_at = ${now}::timestamptz from late where f.id = late.id returning f.id)
    update file_destinations d set abort_pending = true, abort_at = ${now}::timestamptz from retired where d.file_id = retired.id returning d.file_id`,
  )
  return retired.length
}
