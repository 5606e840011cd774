import { type SQL, sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import { SluiceError } from '../platform/kernel/errors.ts'

/**
 * Whether the operator has suspended the workspace, or an owner has deleted it and may still restore it. Such a
 * workspace issues no tokens and accepts no bytes, but its data is kept and can be read.
 */
export function isSuspended(workspaceId: SQL): SQL {
  return sql`exists (select from workspaces w where w.id = ${workspaceId}
    and (w.suspended_at is not null or w.delete_after is not null))`
}

export function workspaceSuspended(headers: Record<string, string> = {}): SluiceError {
  return new SluiceError(
    'workspace_suspended',
    'This workspace is suspended or scheduled for deletion. Its uploads keep their offsets and can continue if it is restored.',
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

/** While DEMO is off, nobody can enter a demo workspace that was created while it was on. */
export function notOfDemo({ demo }: { demo: boolean }, workspaceId: SQL): SQL {
  if (demo) return sql`true`
  return sql`not exists (select from workspaces demo where demo.id = ${workspaceId} and demo.demo)`
}
