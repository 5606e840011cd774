import { createHash } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { type Db, rows } from '../platform/db/database.ts'
import type { Place } from '../platform/vault.ts'

export const CURRENT_HOST_KEY = 'current'

export const hostKeyPlace = (id: string): Place => ({
  column: 'sftp_host_keys.sealed',
  id,
  row: `sftp_host_keys:${id}`,
})

export async function readSealedHostKey(db: Db): Promise<string | undefined> {
  const look = sql`select sealed from sftp_host_keys where id = ${CURRENT_HOST_KEY}`
  return (await rows<{ sealed: string }>(db, look))[0]?.sealed
}

export type HostKey = { publicKey: string; fingerprint: string }

/** The host key, for users to compare with what their client shows. Undefined until a node has created the key. */
export async function readHostKey(db: Db): Promise<HostKey | undefined> {
  const look = sql`select public_key as "publicKey" from sftp_host_keys where id = ${CURRENT_HOST_KEY}`
  const [row] = await rows<{ publicKey: string }>(db, look)
  return row && { ...row, fingerprint: fingerprintOf(Buffer.from(row.publicKey.split(' ')[1]!, 'base64')) }
}

/** The key's fingerprint, in the format that OpenSSH shows. */
export function fingerprintOf(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`
}
