import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { freeBuffer } from '../../platform/kernel/free-buffer.ts'
import type { Vault } from '../../platform/vault.ts'

/** A row of `upload_tails`: its bytes, and their encryption key, wrapped by the vault. */
export type SealedTail = { key: string; bytes: Buffer }
type StoredTail = SealedTail & { offsetBytes: number }

/**
 * Encrypts tails with AES-256-GCM. A row can only be decrypted as part of its own file, at its own offset. Each
 * request that writes tails has its own key.
 */
export type TailCipher = {
  /** Call this once for each request. The returned function creates a random key when it is first used. */
  sealer(fileId: string): (offsetBytes: number, bytes: Uint8Array) => SealedTail
  opener(fileId: string): (tail: StoredTail) => Buffer
}

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
/** How many bytes sealing adds to a row. */
export const SEAL_BYTES = NONCE_BYTES + TAG_BYTES
/** Without this, Node accepts a tag truncated to four bytes, which can be guessed. */
const TAG = { authTagLength: TAG_BYTES }

export const tailKeyContext = (fileId: string) => `upload_tails.key:${fileId}`
const placeOf = (fileId: string, offsetBytes: number) => Buffer.from(`${fileId}:${offsetBytes}`)

export function createTailCipher(vault: Vault): TailCipher {
  return {
    sealer(fileId) {
      let made: { key: Buffer; wrapped: string } | undefined
      return (offsetBytes, bytes) => {
        made ??= makeKey(vault, fileId)
        // The nonce is random, because the same range can be written twice with different bytes.
        const nonce = randomBytes(NONCE_BYTES)
        const cipher = createCipheriv(CIPHER, made.key, nonce, TAG).setAAD(placeOf(fileId, offsetBytes))
        const encrypted = cipher.update(bytes)
        const sealed = Buffer.concat([nonce, encrypted, cipher.final(), cipher.getAuthTag()])
        freeBuffer(encrypted)
        return { key: made.wrapped, bytes: sealed }
      }
    },
    opener(fileId) {
      const keys = new Map<string, Buffer>()
      return ({ offsetBytes, key: wrapped, bytes }) => {
        const key = keys.get(wrapped) ?? Buffer.from(vault.open(wrapped, tailKeyContext(fileId)), 'base64')
        keys.set(wrapped, key)
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), TAG)
          .setAAD(placeOf(fileId, offsetBytes))
          .setAuthTag(bytes.subarray(-TAG_BYTES))
        const plain = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES))
        decipher.final()
        return plain
      }
    },
  }
}

function makeKey(vault: Vault, fileId: string): { key: Buffer; wrapped: string } {
  const key = randomBytes(KEY_BYTES)
  return { key, wrapped: vault.seal(key.toString('base64'), tailKeyContext(fileId)) }
}
