import { createPublicKey, type JsonWebKey } from 'node:crypto'
import { fingerprintOf } from './read-host-key.ts'

export type PublicKey = { algorithm: string; data: Buffer; fingerprint: string }

const CURVES: Record<string, string> = { nistp256: 'P-256', nistp384: 'P-384', nistp521: 'P-521' }
const RSA_BITS = { least: 2048, most: 8192 }
const LINE = /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)) ([A-Za-z0-9+/]+={0,2})(?: [^\r\n]*)?$/

/**
 * Parses a line as in `id_ed25519.pub`, without options in front of the key. Returns the reason if the line is invalid.
 */
export function readPublicKey(line: string): PublicKey | string {
  const text = line.trim()
  if (text.includes('PRIVATE KEY'))
    return 'is a private key; paste the public key from the file whose name ends in .pub'
  const [, algorithm, base64] = LINE.exec(text) ?? []
  if (!algorithm || !base64)
    return 'must be one line as in id_ed25519.pub, with a key of type ssh-ed25519, ecdsa-sha2-nistp256, -nistp384, -nistp521 or ssh-rsa'
  const data = Buffer.from(base64, 'base64')
  try {
    const bits = rsaBits(algorithm, stringsOf(data))
    if (bits < RSA_BITS.least) return `must have at least ${RSA_BITS.least} bits`
    if (bits > RSA_BITS.most) return `must have at most ${RSA_BITS.most} bits`
  } catch {
    return 'is damaged; paste the entire line again'
  }
  return { algorithm, data, fingerprint: fingerprintOf(data) }
}

/**
 * The number of bits of an RSA key. For keys of other types, whose strength is fixed, this returns the minimum for RSA,
 * so that they pass. Throws if OpenSSL does not accept the key.
 */
function rsaBits(algorithm: string, [type, ...parts]: Buffer[]): number {
  if (type?.toString() !== algorithm) throw new Error('another type')
  const { asymmetricKeyDetails: details } = createPublicKey({ key: jwkOf(algorithm, parts), format: 'jwk' })
  return details?.modulusLength ?? RSA_BITS.least
}

function jwkOf(algorithm: string, parts: Buffer[]): JsonWebKey {
  const text = (bytes: Buffer) => bytes.toString('base64url')
  const [first, second] = parts
  if (algorithm === 'ssh-ed25519' && parts.length === 1)
    return { kty: 'OKP', crv: 'Ed25519', x: text(first!) }
  if (parts.length !== 2) throw new Error('other parts')
  if (algorithm === 'ssh-rsa') return { kty: 'RSA', e: text(first!), n: text(withoutSign(second!)) }
  const curve = first!.toString()
  const half = (second!.length - 1) / 2
  // The point must be uncompressed, the only format that SSH supports.
  if (second![0] !== 4 || !algorithm.endsWith(curve)) throw new Error('another curve')
  return {
    kty: 'EC',
    crv: CURVES[curve]!,
    x: text(second!.subarray(1, 1 + half)),
    y: text(second!.subarray(1 + half)),
  }
}

const withoutSign = (number: Buffer) => (number[0] === 0 ? number.subarray(1) : number)

/** Splits data into strings, each preceded by its length (RFC 4251, section 5). */
function stringsOf(data: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < data.length; ) {
    const end = at + 4 + data.readUInt32BE(at)
    if (end > data.length) throw new Error('too short')
    found.push(data.subarray(at + 4, end))
    at = end
  }
  return found
}
