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
  const whole = makeKeyPair('sluice')
  expect(readPublicKey(whole.public)).toMatchObject({ algorithm: 'ssh-ed25519' })
  expect(whole.public).toContain(' sluice')
  const making = vi.spyOn(ssh2.utils, 'generateKeyPairSync')
  for (const pair of [cut, cut, whole]) making.mockReturnValueOnce(pair as never)
  expect(makeKeyPair('sluice')).toBe(whole)
})
