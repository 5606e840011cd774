import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'

/**
 * A workspace that its operator suspended, or that its owner deleted and may still restore: it issues no tokens and
 * accepts no bytes, and everything in it stays and can be read.
 */
export function isSuspended(workspaceId: SQL): SQL {
  return sql`exists (select from workspaces w where w.id = ${workspaceId}
    and (w.suspended_at is not null or w.delete_after is not null))`
}

export function workspaceSuspended(headers: Record<string, string> = {}): SluiceError {
  return new SluiceError(
    'workspace_suspended',
    'This workspace is suspended or scheduled for deletion. Its uploads keep their offsets, and continue if it is restored.',
    { headers },
  )
}

export async function assertNotSuspended(db: Db, workspaceId: string): Promise<void> {
  const [found] = await rows<{ suspended: boolean }>(
    db,
    sql`select ${isSuspended(sql`${workspaceId}::uuid`)} as suspended`,
  )
  if (found!.suspended) throw workspaceSuspended()
}

/** With DEMO off, nobody can enter a demo workspace created by an earlier start, in any way. */
export function notOfDemo({ demo }: { demo: boolean }, workspaceId: SQL): SQL {
  if (demo) return sql`true`
  return sql`not exists (select from workspaces demo where demo.id = ${workspaceId} and demo.demo)`
}
