import { sql } from 'drizzle-orm'
import type { Db } from '../../platform/db/database.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'

/** As long as a Pipe takes them. */
const MAX_ORIGIN = 255

/** A Sender's token reached the TUS endpoint, so it is in somebody's browser: its page in the dashboard says so. */
export async function markExposed(
  db: Db,
  senderToken: string,
  seen: { origin: string | null; nowMs: number },
): Promise<void> {
  const hash = hashSecret(senderToken)
  await db.execute(sql`
    update senders set exposed_at = ${new Date(seen.nowMs).toISOString()}::timestamptz,
      exposed_origin = ${seen.origin?.slice(0, MAX_ORIGIN) ?? null}
    where token_hash = ${hash} or previous_token_hash = ${hash}`)
}
