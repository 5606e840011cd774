import ssh2 from 'ssh2'
import { readPublicKey } from './public-key.ts'

type KeyPair = { private: string; public: string }

/**
 * An Ed25519 key pair in OpenSSH format. `ssh2` drops the zero that one public key in 256 starts with, and no client
 * accepts the rest, so such a pair is made again.
 */
export function makeKeyPair(comment?: string): KeyPair {
  for (;;) {
    const made: KeyPair = ssh2.utils.generateKeyPairSync('ed25519', comment === undefined ? {} : { comment })
    if (typeof readPublicKey(made.public) !== 'string') return made
  }
}
