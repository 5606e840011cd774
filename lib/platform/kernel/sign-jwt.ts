import { sign } from 'node:crypto'
import { promisify } from 'node:util'

const signAsync = promisify(sign)

/** A JSON Web Token that is signed with RS256 (RFC 7519). `privateKey` is in PEM. */
export async function signJwt(
  claims: object,
  { keyId, privateKey }: { keyId: string; privateKey: string },
): Promise<string> {
  const signed = [{ alg: 'RS256', typ: 'JWT', kid: keyId }, claims].map(base64url).join('.')
  const signature = await signAsync('RSA-SHA256', Buffer.from(signed), privateKey)
  return `${signed}.${signature.toString('base64url')}`
}

const base64url = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
