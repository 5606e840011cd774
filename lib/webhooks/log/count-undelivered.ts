import { sql } from 'drizzle-orm'
import type { Actor } from '../../identity/audit/record-audit.ts'
import { rows } from '../../platform/db/database.ts'
import type { Runtime } from '../../platform/runtime.ts'

/** Deliveries that were attempted without success. The counts are capped at `most`. */
export type Undelivered = { retrying: number; nextAt: Date | null; failed: number; most: number }

const MOST = 1000

export async function countUndelivered(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
  pipeId: string | undefined,
): Promise<Undelivered> {
  const mine = sql`workspace_id = ${workspaceId}::uuid and not test ${pipeId ? sql`and pipe_id = ${pipeId}` : sql``}`
  const [row] = await rows<{ retrying: number; nextAtMs: number | null; failed: number }>(
    db,
    sql`select r.retrying, r."nextAtMs", f.failed from (
        select count(*)::int as retrying, floor(extract(epoch from min(next_attempt_at)) * 1000)::bigint as "nextAtMs"
        from (select next_attempt_at from deliveries where ${mine} and state = 'pending' and attempt_count > 0
          limit ${MOST}) one
      ) r, (
        select count(*)::int as failed
        from (select from deliveries where ${mine} and state = 'failed' limit ${MOST}) one
      ) f`,
  )
  const { retrying, nextAtMs, failed } = row!
  return { retrying, failed, nextAt: nextAtMs === null ? null : new Date(Number(nextAtMs)), most: MOST }
}
