import { generateKeyPairSync } from 'node:crypto'
import ssh2 from 'ssh2'
import { describe, expect, it } from 'vitest'
import { makeKeyPair } from './make-key-pair.ts'
import { readPublicKey } from './public-key.ts'

const make = ssh2.utils.generateKeyPairSync

describe('a public key', () => {
  it.each([
    ['ssh-ed25519', makeKeyPair()],
    ['ecdsa-sha2-nistp256', make('ecdsa', { bits: 256 })],
    ['ecdsa-sha2-nistp521', make('ecdsa', { bits: 521 })],
    ['ssh-rsa', make('rsa', { bits: 2048 })],
  ])('of type %s is accepted, with or without a comment', (algorithm, { public: line }) => {
    const read = readPublicKey(line)
    expect(read).toMatchObject({ algorithm, fingerprint: expect.stringMatching(/^SHA256:[\w+/]{43}$/) })
    expect(readPublicKey(`${line.split(' ').slice(0, 2).join(' ')} somebody at home\n`)).toEqual(read)
  })

  const { public: good, private: secret } = makeKeyPair()
  const weak = make('rsa', { bits: 1024 }).public
  it.each([
    ['an RSA key of 1024 bits', weak, /at least 2048 bits/],
    ['a private key', secret, /private key/],
    [
      'a PKCS#1 key',
      generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' }),
      /one line/,
    ],
    ['a key with options', `command="id" ${good}`, /one line/],
    ['two keys', `${good}\n${good}`, /one line/],
    ['a truncated key', good.slice(0, 60), /damaged/],
    ['a key that declares a different type', good.replace('ssh-ed25519', 'ssh-rsa'), /damaged/],
    ['a DSA key', good.replace('ssh-ed25519', 'ssh-dss'), /one line/],
    ['nothing', '', /one line/],
  ])('is refused if it is %s', (_, line, fault) => {
    expect(readPublicKey(String(line))).toMatch(fault)
  })
})
