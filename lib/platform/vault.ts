import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { type Db, rows } from './db/database.ts'
import { SluiceError, StartError } from './kernel/errors.ts'

/** The row and the column that contain a secret. Older releases only bound secrets to `row`. */
export type Place = { column: string; id: string; row: string }

/**
 * Secrets that Sluice must be able to use again, sealed with AES-256-GCM. `context` identifies a secret's purpose and
 * is part of the seal, so that one secret cannot replace another in the database.
 */
export type Vault = {
  seal(text: string, context: string | Place): string
  open(sealed: string, context: string | Place): string
  /** True if the secret is sealed with the first key and in the current format, so it does not have to be rewritten. */
  isCurrent(sealed: string, context: string | Place): boolean
}

/** The format of a secret that is only bound to a context. */
const PLAIN = 'v1'
/** The format of a secret that is also bound to its column. */
const BOUND = 'v2'
const CIPHER = 'aes-256-gcm'
/** Without this, Node accepts a tag truncated to four bytes, which can be guessed. */
const TAG = { authTagLength: 16 }

/**
 * `boundOnly` means that every secret in a column is already bound to that column, so a secret that is bound only to
 * its row is a forgery.
 */
export function createVault(keys: Buffer[], { boundOnly = false } = {}): Vault {
  const byId = new Map(keys.map((key) => [keyId(key), key]))
  const [current] = keys
  if (!current) throw new Error('a vault needs a key')
  return {
    seal(text, context) {
      const iv = randomBytes(12)
      const version = versionFor(context)
      const cipher = createCipheriv(CIPHER, current, iv, TAG).setAAD(boundTo(context, version))
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return [
        version,
        keyId(current),
        ...[iv, bytes, cipher.getAuthTag()].map((part) => part.toString('base64url')),
      ].join('.')
    },
    open(sealed, context) {
      const [version, id, iv, bytes, tag] = sealed.split('.')
      const key = byId.get(id ?? '')
      const known = version === PLAIN || version === BOUND
      if (!known || !key || !iv || bytes === undefined || !tag)
        throw cannotOpen(
          `No key in ENCRYPTION_KEY opens this secret (key ${id}). Add the key that sealed it.`,
        )
      if (boundOnly && version !== versionFor(context))
        throw cannotOpen('This secret is not bound to its column, which is required. Enter it again.')
      const part = (text: string) => Buffer.from(text, 'base64url')
      const decipher = createDecipheriv(CIPHER, key, part(iv), TAG)
        .setAAD(boundTo(context, version))
        .setAuthTag(part(tag))
      return Buffer.concat([decipher.update(part(bytes)), decipher.final()]).toString('utf8')
    },
    isCurrent: (sealed, context) => sealed.startsWith(`${versionFor(context)}.${keyId(current)}.`),
  }
}

export const isBoundToColumn = (sealed: string) => sealed.startsWith(`${BOUND}.`)

const versionFor = (context: string | Place) => (typeof context === 'string' ? PLAIN : BOUND)

function boundTo(context: string | Place, version: string): Buffer {
  if (typeof context === 'string') return Buffer.from(context)
  return Buffer.from(version === BOUND ? `${context.column}:${context.id}` : context.row)
}

function cannotOpen(reason: string): SluiceError {
  return new SluiceError('unavailable', 'This node does not have the key it needs.', {
    headers: { 'Retry-After': '5' },
    cause: new StartError(reason),
  })
}

/** Identifies a key without revealing anything about it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('sluice key id').update(key).digest('base64url').slice(0, 8)
}

export const CANARY = 'canary'

/**
 * Returns a function that seals secrets in the canary's format, which every node on this database can open. Locks the
 * canary until the transaction ends, so that a change of format waits for writes in the old format.
 */
export async function sealsForColumns(tx: Db, vault: Vault): Promise<(text: string, place: Place) => string> {
  const [canary] = await rows<{ sealed: string }>(
    tx,
    sql`select sealed from sealed_canary where id = ${CANARY} for share`,
  )
  const bound = !canary || isBoundToColumn(canary.sealed)
  return (text, place) => vault.seal(text, bound ? place : place.row)
}
