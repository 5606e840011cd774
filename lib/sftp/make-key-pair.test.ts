import ssh2 from 'ssh2'
import { expect, it, vi } from 'vitest'
import { makeKeyPair } from './make-key-pair.ts'
import { readPublicKey } from './public-key.ts'

it('creates another pair if the public key has lost its leading zero byte', () => {
  const key = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e', 'hex')
  const lengthOf = (bytes: number) => Buffer.from([0, 0, 0, bytes])
  const type = Buffer.from('ssh-ed25519')
  const wire = Buffer.concat([lengthOf(type.length), type, lengthOf(key.length), key])
  const cut = { private: '', public: `ssh-ed25519 ${wire.toString('base64')}` }
  expect(readPublicKey(cut.public)).toContain('is damaged')
  const making = vi.spyOn(ssh2.utils, 'generateKeyPairSync').mockReturnValueOnce(cut as never)
  const made = makeKeyPair('sluice')
  expect(making).toHaveBeenCalledTimes(2)
  expect(readPublicKey(made.public)).toMatchObject({ algorithm: 'ssh-ed25519' })
  expect(made.public).toContain(' sluice')
})
