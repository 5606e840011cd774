import { generateKeyPairSync, type KeyObject, sign, X509Certificate } from 'node:crypto'
import { hours } from '../kernel/clock.ts'

/**
 * What Node cannot encode: a certificate signing request (RFC 2986), and the certificate that answers a tls-alpn-01
 * challenge (RFC 8737, 3), both in DER and with keys on the curve P-256.
 */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  // The shortest form, whose first byte counts the others.
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const [VERSION_1, VERSION_3] = [der(0x02, Buffer.of(0)), der(0x02, Buffer.of(2))]
const SERIAL_NUMBER = der(0x02, Buffer.of(1))
const TRUE = der(0x01, Buffer.of(0xff))
const sequence = (...parts: Buffer[]) => der(0x30, ...parts)
const set = (...parts: Buffer[]) => der(0x31, ...parts)
const octets = (bytes: Buffer) => der(0x04, bytes)
const identifier = (hex: string) => der(0x06, Buffer.from(hex, 'hex'))
const time = (ms: number) =>
  der(0x17, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(2, 14)}Z`))

const COMMON_NAME = identifier('550403')
const SUBJECT_ALT_NAME = identifier('551d11')
const EXTENSION_REQUEST = identifier('2a864886f70d01090e')
const ACME_IDENTIFIER = identifier('2b0601050507011f')
const ECDSA_WITH_SHA256 = sequence(identifier('2a8648ce3d040302'))

const namesOf = (host: string) => sequence(SUBJECT_ALT_NAME, octets(sequence(der(0x82, Buffer.from(host)))))
const publicHalf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })
const signed = (content: Buffer, key: KeyObject) =>
  sequence(content, ECDSA_WITH_SHA256, der(0x03, Buffer.of(0), sign('sha256', content, key)))

type KeyPair = { publicKey: KeyObject; privateKey: KeyObject }

export const createKeyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' })
export const toPem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()

export function signingRequest(host: string, { publicKey, privateKey }: KeyPair): Buffer {
  const attributes = der(0xa0, sequence(EXTENSION_REQUEST, set(sequence(namesOf(host)))))
  return signed(sequence(VERSION_1, sequence(), publicHalf(publicKey), attributes), privateKey)
}

type Content = { host: string; key: KeyObject; from: number; to: number; extensions?: Buffer[] }

/** Returns a certificate in PEM. */
export function certify({ host, key, from, to, extensions = [] }: Content, issuer: KeyObject): string {
  const name = sequence(set(sequence(COMMON_NAME, der(0x0c, Buffer.from('Sluice')))))
  const content = sequence(
    der(0xa0, VERSION_3),
    SERIAL_NUMBER,
    ECDSA_WITH_SHA256,
    name,
    sequence(time(from), time(to)),
    name,
    publicHalf(key),
    der(0xa3, sequence(namesOf(host), ...extensions)),
  )
  return new X509Certificate(signed(content, issuer)).toString()
}

/** `digest`: the SHA-256 of the key authorization. Apart from it and the host, the authority ignores the content. */
export function challengeCertificate(host: string, digest: Buffer, nowMs: number) {
  const { publicKey, privateKey } = createKeyPair()
  const extensions = [sequence(ACME_IDENTIFIER, TRUE, octets(octets(digest)))]
  const content = { host, key: publicKey, from: nowMs - hours(1), to: nowMs + hours(1), extensions }
  return { cert: certify(content, privateKey), key: toPem(privateKey) }
}
