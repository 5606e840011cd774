import { sql } from 'drizzle-orm'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { TRIAL_SENDER } from '../../workspace/tokens/issue-trial-token.ts'

/** What a new workspace has really done so far; each is one look along an index. A bucket that took a file is in order, too. */
export type Checklist = {
  bucketTakesFiles: boolean
  pipeOn: boolean
  senderCreated: boolean
  firstByte: boolean
  webhookDelivered: boolean
}

export async function readChecklist({ db }: Pick<Runtime, 'db'>, { workspaceId }: Actor): Promise<Checklist> {
  // A limit in the order of an index, where `exists` may take the first row of the table that fits.
  const mine = sql`workspace_id = ${workspaceId}::uuid`
  const [row] = await rows<Checklist>(
    db,
    sql`select
      exists (select 1 from data_stores where ${mine} and deleted_at is null and "check"->>'ok' = 'true')
        or (select id from files where ${mine} and status = 'transferred' order by id limit 1) is not null as "bucketTakesFiles",
      exists (select 1 from pipes where ${mine} and deleted_at is null and source_http) as "pipeOn",
      exists (select 1 from senders where ${mine} and revoked_at is null and name <> ${TRIAL_SENDER}) as "senderCreated",
      (select id from files where ${mine} and first_byte_at is not null order by id limit 1) is not null as "firstByte",
      exists (select 1 from deliveries where ${mine} and state = 'delivered') as "webhookDelivered"`,
  )
  return row!
}
