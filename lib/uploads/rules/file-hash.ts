import { createHash } from 'node:crypto'
import { createSHA256, type IHasher } from 'hash-wasm'
import type { Vault } from '../../platform/vault.ts'

/** The SHA-256 of a file up to an offset, in hexadecimal, and the sealed state with which it continues from there. */
export type Hashed = { sha256: string; state: string | null }

/** The running SHA-256 of a file's bytes, in the order in which they arrive. */
export type FileHash = {
  update(bytes: Uint8Array): void
  /** `chunks` are the bytes since the last call. The state is omitted if these are the file's last bytes. */
  at(chunks: readonly Uint8Array[], rest: { isEnd: boolean }): Hashed
}

export type OpenFileHash = (
  fileId: string,
  from: {
    /** The state in which the previous writer left the hash; empty if no bytes have been confirmed. */
    state: string
    /** The entire file is expected in one piece. */
    isWhole: boolean
  },
) => FileHash

/** The state contains up to 63 of the file's bytes. */
export const hashStateContext = (fileId: string) => `files.sha256_state:${fileId}`

/** One instance hashes every file: loading and saving a state of 116 bytes costs little next to a chunk. */
let shared: Promise<IHasher> | undefined

/**
 * The hash from `node:crypto` is several times faster, but has no state that can be stored. So it is used only while the
 * state is not needed: for a file that arrives in one piece.
 */
export async function openFileHashes(vault: Vault): Promise<OpenFileHash> {
  shared ??= createSHA256()
  const hasher = await shared
  const start = hasher.init().save()
  return (fileId, { state: sealed, isWhole }) => {
    const context = hashStateContext(fileId)
    let state = sealed === '' ? start : Buffer.from(vault.open(sealed, context), 'base64')
    let native = isWhole ? createHash('sha256') : undefined
    const update = (bytes: Uint8Array) => {
      hasher.load(state)
      hasher.update(bytes)
      state = hasher.save()
    }
    return {
      update: (bytes) => void (native ? native.update(bytes) : update(bytes)),
      at(chunks, { isEnd }) {
        if (native && isEnd) return { sha256: native.copy().digest('hex'), state: null }
        if (native) for (const chunk of chunks) update(chunk)
        native = undefined
        hasher.load(state)
        const sha256 = hasher.digest('hex')
        return { sha256, state: isEnd ? null : vault.seal(Buffer.from(state).toString('base64'), context) }
      },
    }
  }
}
