import { sql } from 'drizzle-orm'
import { idempotencyContext } from './api/answer-once.ts'
import { vaultContext } from './data-stores/data-store.ts'
import { type Db, rows } from './db/database.ts'
import { demoVaultContext } from './demo/demo-document.ts'
import { tailKeyContext } from './uploads/tail-cipher.ts'
import type { Vault } from './vault.ts'
import { canaryContext } from './verify-encryption-key.ts'
import { secretContext } from './webhooks/secrets.ts'

/**
 * Rewrites under the first key of ENCRYPTION_KEY what an older one sealed, so that the older one can be dropped.
 * It may run beside a working Sluice: a secret that changes meanwhile is left as it then is, since that was
 * sealed under the first key. Mails in the queue are not touched; they are gone within minutes.
 */
type Column = { table: string; id: string; column: string; context: (id: string) => string }

const COLUMNS: Column[] = [
  { table: 'data_stores', id: 'id::text', column: 'access_key_id_encrypted', context: vaultContext },
  { table: 'data_stores', id: 'id::text', column: 'secret_access_key_encrypted', context: vaultContext },
  { table: 'webhook_outputs', id: 'id::text', column: 'secret_encrypted', context: secretContext },
  { table: 'webhook_outputs', id: 'id::text', column: 'previous_secret_encrypted', context: secretContext },
  { table: 'sealed_canary', id: 'id', column: 'sealed', context: canaryContext },
  { table: 'workspaces', id: 'id::text', column: 'demo_sealed', context: demoVaultContext },
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
]
const BATCH = 500

export async function resealSecrets(db: Db, vault: Vault): Promise<number> {
  let rewritten = 0
  for (const column of COLUMNS) rewritten += await resealColumn(db, vault, column)
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
    for (const row of batch.filter(({ sealed }) => !vault.isCurrent(sealed))) {
      const fresh = vault.seal(vault.open(row.sealed, context(row.key)), context(row.key))
      await db.execute(
        sql`update ${from} set ${name} = ${fresh} where ${key} = ${row.key} and ${name} = ${row.sealed}`,
      )
      rewritten++
    }
    if (batch.length < BATCH) return rewritten
    after = batch.at(-1)!.key
  }
}
