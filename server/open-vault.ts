import { sql } from 'drizzle-orm'
import { type Db, rows } from '../lib/platform/db/database.ts'
import { StartError } from '../lib/platform/kernel/errors.ts'
import { CANARY, createVault, isBoundToColumn, type Place, type Vault } from '../lib/platform/vault.ts'
import { secretKeyPlace } from '../lib/workspace/data-stores/credentials.ts'

const TEXT = 'Sluice sealed this.'
const UNBOUND = 'v1.%'
export const canaryPlace = (id: string): Place => ({
  column: 'sealed_canary.sealed',
  id,
  row: `sealed_canary:${id}`,
})

/**
 * Refuses to start if ENCRYPTION_KEY does not open the secrets in the database. To check this, the first start seals a
 * known string, the canary. In an older database, the key is first checked against the Data Stores, so that a wrong key
 * cannot seal the canary. The format of the canary shows whether secrets in this database are bound to their columns
 * (decision 45).
 */
export async function openVault(db: Db, keys: Buffer[]): Promise<Vault> {
  const vault = createVault(keys)
  if ((await openCanary(db, vault)) === undefined) await makeCanary(db, vault)
  // Another node may have sealed the canary first, with a different key.
  const sealed = await openCanary(db, vault)
  return createVault(keys, { boundOnly: sealed !== undefined && isBoundToColumn(sealed) })
}

async function makeCanary(db: Db, vault: Vault): Promise<void> {
  const [store] = await rows<{ id: string; sealed: string }>(
    db,
    sql`select id::text, secret_access_key_encrypted as sealed from data_stores
      where secret_access_key_encrypted <> '' order by id limit 1`,
  )
  if (store) open(vault, store.sealed, secretKeyPlace(store.id))
  const [found] = await rows<{ unbound: boolean }>(
    db,
    sql`select exists (select from data_stores where secret_access_key_encrypted like ${UNBOUND})
      or exists (select from webhook_outputs where secret_encrypted like ${UNBOUND}) as unbound`,
  )
  const place = canaryPlace(CANARY)
  const sealed = vault.seal(TEXT, found!.unbound ? place.row : place)
  await db.execute(
    sql`insert into sealed_canary (id, sealed) values (${CANARY}, ${sealed}) on conflict do nothing`,
  )
}

async function openCanary(db: Db, vault: Vault): Promise<string | undefined> {
  const [row] = await rows<{ sealed: string }>(db, sql`select sealed from sealed_canary where id = ${CANARY}`)
  if (row) open(vault, row.sealed, canaryPlace(CANARY))
  return row?.sealed
}

function open(vault: Vault, sealed: string, place: Place): void {
  try {
    vault.open(sealed, place)
  } catch (error) {
    const reason =
      error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
    throw new StartError(
      `ENCRYPTION_KEY is not the one that this database was used with. ${reason} See docs/operations.md, Keys, for how to change keys.`,
    )
  }
}
