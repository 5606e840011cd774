import { sql } from 'drizzle-orm'
import type { Db } from '../platform/db/database.ts'
import type { Vault } from '../platform/vault.ts'
import { makeKeyPair } from './make-key-pair.ts'
import { CURRENT_HOST_KEY, hostKeyPlace, readSealedHostKey } from './read-host-key.ts'

/** This server's host key, in OpenSSH format. The first node that needs it creates it. */
export async function openHostKey({ db, vault }: { db: Db; vault: Vault }): Promise<string> {
  const sealed = (await readSealedHostKey(db)) ?? (await makeHostKey(db, vault))
  return vault.open(sealed, hostKeyPlace(CURRENT_HOST_KEY))
}

async function makeHostKey(db: Db, vault: Vault): Promise<string> {
  const made = makeKeyPair('sluice')
  const sealed = vault.seal(made.private, hostKeyPlace(CURRENT_HOST_KEY))
  await db.execute(sql`insert into sftp_host_keys (id, sealed, public_key)
    values (${CURRENT_HOST_KEY}, ${sealed}, ${made.public.trim()}) on conflict do nothing`)
  // Another node may have created the key first.
  return (await readSealedHostKey(db))!
}
