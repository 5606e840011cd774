import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { SluiceError, StartError } from './kernel/errors.ts'

/**
 * Secrets that Sluice must be able to use again, sealed with AES-256-GCM. `context` says what a secret is for
 * and is part of the seal, so that one cannot be put in another's place in the database.
 */
export type Vault = {
  seal(text: string, context: string): string
  open(sealed: string, context: string): string
  /** Sealed under the first key, so nothing to rewrite. */
  isCurrent(sealed: string): boolean
}

const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
/** Without it Node takes a tag cut down to four bytes, which can be guessed. */
const TAG = { authTagLength: 16 }

export function createVault(keys: Buffer[]): Vault {
  const byId = new Map(keys.map((key) => [keyId(key), key]))
  const [current] = keys
  if (!current) throw new Error('a vault needs a key')
  return {
    seal(text, context) {
      const iv = randomBytes(12)
      const cipher = createCipheriv(CIPHER, current, iv, TAG).setAAD(Buffer.from(context))
      const bytes = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return [
        VERSION,
        keyId(current),
        ...[iv, bytes, cipher.getAuthTag()].map((part) => part.toString('base64url')),
      ].join('.')
    },
    open(sealed, context) {
      const [version, id, iv, bytes, tag] = sealed.split('.')
      const key = byId.get(id ?? '')
      if (version !== VERSION || !key || !iv || bytes === undefined || !tag) {
        throw new SluiceError('unavailable', 'This node has not the key that it needs for this.', {
          headers: { 'Retry-After': '5' },
          cause: new StartError(
            `No key of ENCRYPTION_KEY opens this secret (key ${id}). Add the key that sealed it.`,
          ),
        })
      }
      const part = (text: string) => Buffer.from(text, 'base64url')
      const decipher = createDecipheriv(CIPHER, key, part(iv), TAG)
        .setAAD(Buffer.from(context))
        .setAuthTag(part(tag))
      return Buffer.concat([decipher.update(part(bytes)), decipher.final()]).toString('utf8')
    },
    isCurrent: (sealed) => sealed.split('.')[1] === keyId(current),
  }
}

/** Names a key without telling anything of it. */
function keyId(key: Buffer): string {
  return createHash('sha256').update('sluice key id').update(key).digest('base64url').slice(0, 8)
}
