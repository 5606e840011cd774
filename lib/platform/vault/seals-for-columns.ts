import { sql } from 'drizzle-orm'
import { type Db, rows } from '../db/database.ts'
import { isBoundToColumn, type Place, type Vault } from './vault.ts'

export const CANARY = 'canary'

/**
 * Seals secrets in the form that every node on this database can open, which is the form of the canary. Holds the
 * canary until the transaction ends, so that the change of form waits for what is written in the old one.
 */
export async function sealsForColumns(tx: Db, vault: Vault): Promise<(text: string, place: Place) => string> {
  const [canary] = await rows<{ sealed: string }>(
    tx,
    sql`select sealed from sealed_canary where id = ${CANARY} for share`,
  )
  const bound = !canary || isBoundToColumn(canary.sealed)
  return (text, place) => vault.seal(text, bound ? place : place.row)
}
