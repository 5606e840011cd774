import { sql } from 'drizzle-orm'
import type { fileDecisions, Hook } from '#drizzle/schema/index.ts'
import type { Actor } from '../identity/audit/record-audit.ts'
import { rows } from '../platform/db/database.ts'
import type { Runtime } from '../platform/runtime.ts'

type Row = typeof fileDecisions.$inferSelect

export type Decision = Pick<Row, 'state' | 'decidedBy' | 'reason'> & {
  hook: Hook
  fileId: string
  filename: string
  decidedAt: string
}

const SHOWN = 30
/** Only this many of the Pipe's files are searched, so that the page of an old hook stays fast. */
const LOOKED_AT = 1000

/** The latest decisions on a Pipe's files. Uploads that were refused before they started have no file. */
export async function listDecisions(
  { db }: Pick<Runtime, 'db'>,
  { workspaceId }: Actor,
  pipeId: string,
): Promise<Decision[]> {
  const found = await rows<Omit<Decision, 'decidedAt'> & { decidedAt: string | Date }>(
    db,
    sql`with recent as (
      select id, filename from files where workspace_id = ${workspaceId}::uuid and pipe_id = ${pipeId}
      order by id desc limit ${LOOKED_AT}::int
    )
    select d.file_id as "fileId", recent.filename, d.hook, d.state, d.decided_by as "decidedBy", d.reason, d.decided_at as "decidedAt"
    from recent join file_decisions d on d.file_id = recent.id
    order by d.decided_at desc, d.file_id desc, d.hook limit ${SHOWN}::int`,
  )
  return found.map((one) => ({ ...one, decidedAt: new Date(one.decidedAt).toISOString() }))
}
