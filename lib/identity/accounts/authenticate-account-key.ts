import { sql } from 'drizzle-orm'
import { rows } from '../../platform/db/database.ts'
import { notOfDemo } from '../../platform/db/not-of-demo.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Actor } from '../audit/record-audit.ts'

type Found = { id: string; workspace_id: string; name: string; revoked: boolean }

/** Who calls the management API. The key's last use is kept to the minute, to spare a write for each request. */
export async function authenticateAccountKey(
  { db, clock, config }: Pick<Runtime, 'db' | 'clock' | 'config'>,
  key: string | undefined,
): Promise<Actor> {
  if (key === undefined) {
    throw new SluiceError('account_key_missing', 'Send an account key: Authorization: Bearer ak_…')
  }
  const now = new Date(clock.now()).toISOString()
  const [found] = await rows<Found>(
    db,
    sql`
      with found as (
        select id, workspace_id, name, revoked_at is not null as revoked, last_used_at
        from account_keys k where key_hash = ${hashSecret(key)} and ${notOfDemo(config, sql`k.workspace_id`)}
      ), used as (
        update account_keys set last_used_at = ${now}::timestamptz from found
        where account_keys.id = found.id and not found.revoked
          and (found.last_used_at is null or found.last_used_at < ${now}::timestamptz - interval '1 minute')
      )
      select id, workspace_id, name, revoked from found`,
  )
  if (!found) throw new SluiceError('account_key_invalid', 'There is no such account key.')
  if (found.revoked) throw new SluiceError('account_key_invalid', 'This account key was revoked.')
  return { workspaceId: found.workspace_id, kind: 'account_key', id: found.id, label: found.name }
}
