import { sql } from 'drizzle-orm'
import { type Db, rows } from '../../platform/db/database.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { hashSecret } from '../../platform/kernel/ids.ts'
import type { ConfiguredRuntime, CoreRuntime } from '../../platform/runtime.ts'
import type { Actor } from '../audit/record-audit.ts'
import { kindOfToken } from '../kind-of-token.ts'
import { lesserRole, type Role } from '../rights.ts'
import { notOfDemo } from '../suspension.ts'
import { type KeyScope, ROLE_OF_SCOPE } from './account-keys.ts'

type Known = {
  id: string
  workspace_id: string
  name: string
  scope: KeyScope
  revoked: boolean
  expired: boolean
  role: Role | null
}

/**
 * Authenticates a management API caller. The key's last use is only updated once a minute, to avoid a write on each
 * request.
 */
export async function authenticateAccountKey(
  { db, clock, config }: ConfiguredRuntime,
  key: string | undefined,
): Promise<Actor> {
  if (key === undefined) {
    throw new SluiceError('account_key_missing', 'Send an account key: Authorization: Bearer ak_…')
  }
  const now = sql`${new Date(clock.now()).toISOString()}::timestamptz`
  const [found] = await rows<Known>(
    db,
    sql`
      with found as (
        select id, workspace_id, name, scope, revoked_at is not null as revoked,
          coalesce(expires_at <= ${now}, false) as expired, last_used_at, ${ROLE_OF_CREATOR} as role
        from account_keys k where key_hash = ${hashSecret(key)} and ${notOfDemo(config, sql`k.workspace_id`)}
      ), used as (
        update account_keys set last_used_at = ${now} from found
        where account_keys.id = found.id and not found.revoked and not found.expired and found.role is not null
          and (found.last_used_at is null or found.last_used_at < ${now} - interval '1 minute')
      )
      select id, workspace_id, name, scope, revoked, expired, role from found`,
  )
  const fault = faultOf(key, found)
  if (fault) throw new SluiceError('account_key_invalid', fault)
  const { id, workspace_id, name, scope, role } = found!
  return {
    workspaceId: workspace_id,
    kind: 'account_key',
    id,
    label: name,
    role: lesserRole(ROLE_OF_SCOPE[scope], role!),
  }
}

function faultOf(key: string, found: Known | undefined): string | undefined {
  if (!found) {
    if (key.startsWith('ak_')) return 'There is no such account key.'
    const given = kindOfToken(key)
    return given ? `This is ${given}; send an ak_ account key.` : 'An account key starts with ak_.'
  }
  if (found.revoked) return 'This account key was revoked.'
  if (found.expired) return 'This account key has expired. Create another.'
  if (!found.role) return 'The creator of this account key is no longer a member of the workspace.'
  return undefined
}

/**
 * The current role of the creator of key `k`; null if they left or were disabled. A key without a known creator was
 * created by an earlier version, in which everyone was an owner.
 */
const ROLE_OF_CREATOR = sql`(
    select m.role from members m join users u on u.id = m.user_id
    where m.workspace_id = k.workspace_id and u.disabled_at is null
      and case when k.created_by is null then m.role = 'owner' else m.user_id = k.created_by end limit 1)`

/** A key's current role, for a transaction that has locked the relevant rows. */
export async function roleOfKey(tx: Db, keyId: string): Promise<Role> {
  const [found] = await rows<{ scope: KeyScope; role: Role | null }>(
    tx,
    sql`select scope, ${ROLE_OF_CREATOR} as role from account_keys k where id = ${keyId}::uuid and revoked_at is null`,
  )
  if (!found?.role) throw new SluiceError('account_key_invalid', 'This account key was revoked.')
  return lesserRole(ROLE_OF_SCOPE[found.scope], found.role)
}

/** Whether a key is still valid, for operations that continue long after it was presented. */
export async function isKeyGood({ db, clock }: CoreRuntime, keyId: string): Promise<boolean> {
  const found = await rows(
    db,
    sql`select from account_keys k where id = ${keyId}::uuid and revoked_at is null and ${ROLE_OF_CREATOR} is not null
      and (expires_at is null or expires_at > ${new Date(clock.now()).toISOString()}::timestamptz)`,
  )
  return found.length > 0
}
