import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { LIVE_CHANNEL } from '../../platform/live-channel.ts'

/** The open streams of a user look at once whether their session still is. */
export async function tellStreams(db: Db, userId: string): Promise<void> {
  await db.execute(sql`
    select pg_notify(${LIVE_CHANNEL}, workspace_id::text) from members where user_id = ${userId}::uuid`)
}
