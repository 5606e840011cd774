import { type SQL, sql } from 'drizzle-orm'
import { uuidv7 } from '../../platform/kernel/ids.ts'

/** A line for the file's timeline. */
export type TimelineNote = { kind: string; detail: Record<string, string | number | boolean | null> }

/** A step of a statement whose step `moved` has the file's id: adds the line. */
export function noted({ kind, detail }: TimelineNote, moved: SQL, nowMs: number): SQL {
  const now = sql`${new Date(nowMs).toISOString()}::timestamptz`
  return sql`noted as (insert into file_timeline (id, file_id, kind, detail, at)
    select ${uuidv7(nowMs)}::uuid, id, ${kind}, ${JSON.stringify(detail)}::jsonb, ${now} from ${moved})`
}
