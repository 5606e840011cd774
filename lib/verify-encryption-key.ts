import { sql } from 'drizzle-orm'
import { vaultContext } from './data-stores/data-store.ts'
import { type Db, rows } from './db/database.ts'
import { StartError } from './kernel/errors.ts'
import type { Vault } from './vault.ts'

const ID = 'canary'
const TEXT = 'Sluice sealed this.'
export const canaryContext = (id: string) => `sealed_canary:${id}`

/**
 * Refuses to start with an ENCRYPTION_KEY that does not open what the database holds. The first start seals a text for
 * this; a database from before that has its Data Stores to go by, so that a wrong key cannot seal it.
 */
export async function verifyEncryptionKey(db: Db, vault: Vault): Promise<void> {
  if (await opensCanary(db, vault)) return
  const [store] = await rows<{ id: string; sealed: string }>(
    db,
    sql`select id::text, secret_access_key_encrypted as sealed from data_stores
      where secret_access_key_encrypted <> '' order by id limit 1`,
  )
  if (store) open(vault, store.sealed, vaultContext(store.id))
  const sealed = vault.seal(TEXT, canaryContext(ID))
  await db.execute(
    sql`insert into sealed_canary (id, sealed) values (${ID}, ${sealed}) on conflict do nothing`,
  )
  // Another node may have been first, with another key.
  await opensCanary(db, vault)
}

async function opensCanary(db: Db, vault: Vault): Promise<boolean> {
  const [row] = await rows<{ sealed: string }>(db, sql`select sealed from sealed_canary where id = ${ID}`)
  if (row) open(vault, row.sealed, canaryContext(ID))
  return row !== undefined
}

function open(vault: Vault, sealed: string, context: string): void {
  try {
    vault.open(sealed, context)
  } catch (error) {
    const reason =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    throw new StartError(
      `ENCRYPTION_KEY is not the one that this database was used with. ${reason} How keys are changed: docs/operations.md, Keys.`,
    )
  }
}
