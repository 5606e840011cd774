import ssh2 from 'ssh2'
import { readPublicKey } from './public-key.ts'

type KeyPair = { private: string; public: string }

/**
 * Creates an Ed25519 key pair in OpenSSH format. One public key in 256 starts with a zero byte, which `ssh2` drops, and
 * then no client accepts the key. If that happens, this creates another pair.
 */
export function makeKeyPair(comment?: string): KeyPair {
  for (;;) {
    const made: KeyPair = ssh2.utils.generateKeyPairSync('ed25519', comment === undefined ? {} : { comment })
    if (typeof readPublicKey(made.public) !== 'string') return made
  }
}
