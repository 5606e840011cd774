import { sql } from 'drizzle-orm'
import { idempotencyContext } from '../lib/api/answer-once.ts'
import { demoVaultContext } from '../lib/dashboard/demo/ensure-demo.ts'
import { hookSecretPlace, previousHookSecretPlace } from '../lib/hooks/hook.ts'
import { secondFactorContext } from '../lib/identity/accounts/second-factor.ts'
import { signingKeyPlace } from '../lib/identity/issuer/signing-keys.ts'
import { hashStatePlace, sourcePlace } from '../lib/imports/import.ts'
import { type Db, rows } from '../lib/platform/db/database.ts'
import type { Place, Vault } from '../lib/platform/vault.ts'
import { hostKeyPlace } from '../lib/sftp/read-host-key.ts'
import { accountKeyPlace, certificateKeyPlace } from '../lib/upload-links/host-certificates.ts'
import { hashStateContext } from '../lib/uploads/rules/file-hash.ts'
import { tailKeyContext } from '../lib/uploads/rules/tail-cipher.ts'
import { previousSecretPlace, secretPlace } from '../lib/webhooks/outputs/signing-secrets.ts'
import { headersPlace } from '../lib/webhooks/outputs/static-headers.ts'
import { accessKeyPlace, secretKeyPlace } from '../lib/workspace/data-stores/credentials.ts'
import { canaryPlace } from './open-vault.ts'

type Column = { table: string; id: string; column: string; context: (id: string) => string | Place }

const BOUND_TO_COLUMNS: Column[] = [
  { table: 'data_stores', id: 'id::text', column: 'access_key_id_encrypted', context: accessKeyPlace },
  { table: 'data_stores', id: 'id::text', column: 'secret_access_key_encrypted', context: secretKeyPlace },
  { table: 'webhook_outputs', id: 'id::text', column: 'secret_encrypted', context: secretPlace },
  {
    table: 'webhook_outputs',
    id: 'id::text',
    column: 'previous_secret_encrypted',
    context: previousSecretPlace,
  },
  { table: 'webhook_outputs', id: 'id::text', column: 'headers_encrypted', context: headersPlace },
  { table: 'imports', id: 'file_id::text', column: 'sealed', context: sourcePlace },
  { table: 'imports', id: 'file_id::text', column: 'hash_state', context: hashStatePlace },
  { table: 'pipe_hooks', id: 'id::text', column: 'secret_encrypted', context: hookSecretPlace },
  {
    table: 'pipe_hooks',
    id: 'id::text',
    column: 'previous_secret_encrypted',
    context: previousHookSecretPlace,
  },
  { table: 'signing_keys', id: 'id::text', column: 'sealed', context: signingKeyPlace },
  { table: 'link_hosts', id: 'workspace_id::text', column: 'certificate_key', context: certificateKeyPlace },
  { table: 'acme_accounts', id: 'directory', column: 'sealed', context: accountKeyPlace },
  { table: 'sftp_host_keys', id: 'id', column: 'sealed', context: hostKeyPlace },
  { table: 'sealed_canary', id: 'id', column: 'sealed', context: canaryPlace },
]
const OTHERS: Column[] = [
  { table: 'workspaces', id: 'id::text', column: 'demo_sealed', context: demoVaultContext },
  { table: 'second_factors', id: 'user_id::text', column: 'secret', context: secondFactorContext },
  {
    table: 'idempotency_keys',
    id: `workspace_id || ':' || actor_id || ':' || key`,
    column: 'body',
    context: idempotencyContext,
  },
  {
    table: 'upload_tails',
    id: `file_id || ':' || offset_bytes`,
    column: 'key',
    context: (id) => tailKeyContext(id.split(':')[0]!),
  },
  { table: 'files', id: 'id::text', column: 'sha256_state', context: hashStateContext },
]
const BATCH = 500

/**
 * Uses the first key in ENCRYPTION_KEY to reseal the secrets that were sealed with an older key, so that the older key
 * can be dropped. Also converts secrets written by an older release to the current format. This may run alongside
 * Sluice: a secret that changes while this runs is skipped, because it was sealed with the first key. Emails in the
 * queue are not resealed, because they are sent within minutes.
 */
export async function resealSecrets(db: Db, vault: Vault): Promise<number> {
  const bound = await db.transaction(async (tx) => {
    // Waits for writers in the old format, which lock the canary. Later writers find the new format.
    await tx.execute(sql`select from sealed_canary for update`)
    return resealColumns(tx, vault, BOUND_TO_COLUMNS)
  })
  return bound + (await resealColumns(db, vault, OTHERS))
}

async function resealColumns(db: Db, vault: Vault, columns: Column[]): Promise<number> {
  let rewritten = 0
  for (const column of columns) rewritten += await resealColumn(db, vault, column)
  return rewritten
}

async function resealColumn(db: Db, vault: Vault, { table, id, column, context }: Column): Promise<number> {
  const [from, key, name] = [sql.identifier(table), sql.raw(id), sql.identifier(column)]
  let rewritten = 0
  let after = ''
  for (;;) {
    const batch = await rows<{ key: string; sealed: string }>(
      db,
      sql`select ${key} as key, ${name} as sealed from ${from} where ${key} > ${after} and ${name} <> ''
        order by 1 limit ${BATCH}`,
    )
    const resealed = batch
      .filter(({ key, sealed }) => !vault.isCurrent(sealed, context(key)))
      .map(({ key, sealed }) => {
        const fresh = vault.seal(vault.open(sealed, context(key)), context(key))
        return { row_key: key, before: sealed, fresh }
      })
    // One statement for all of them: in a table as large as files, each statement has to look for these ids as text.
    if (resealed.length > 0)
      await db.execute(
        sql`update ${from} set ${name} = resealed.fresh
          from json_to_recordset(${JSON.stringify(resealed)}::json) as resealed(row_key text, before text, fresh text)
          where ${key} = row_key and ${name} = before`,
      )
    rewritten += resealed.length
    if (batch.length < BATCH) return rewritten
    after = batch.at(-1)!.key
  }
}
