import { createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { Clock } from '#lib/platform/kernel/clock.ts'

export type Expected = { issuer: string; audience: string; subject: string }
export type Problem = 'signature' | 'issuer' | 'audience' | 'subject' | 'time'

/**
 * Verifies a statement as clouds do: with the keys that the issuer publishes, read when they are needed. Returns what is
 * wrong with it.
 */
export async function problemWith(
  statement: string,
  { issuer, audience, subject }: Expected,
  clock: Clock,
): Promise<Problem | undefined> {
  const [header, payload, signature] = statement.split('.')
  const { alg, kid } = read(header)
  const claims = read(payload)
  if (claims.iss !== issuer) return 'issuer'
  const discovered = await getJson(`${issuer}/.well-known/openid-configuration`)
  if (discovered.issuer !== issuer) return 'issuer'
  const { keys } = (await getJson(String(discovered.jwks_uri))) as { keys: (JsonWebKey & { kid: string })[] }
  const key = keys.find((one) => one.kid === kid)
  if (alg !== 'RS256' || !key || !signature) return 'signature'
  const publicKey = createPublicKey({ key, format: 'jwk' })
  if (
    !verify('RSA-SHA256', Buffer.from(`${header}.${payload}`), publicKey, Buffer.from(signature, 'base64url'))
  )
    return 'signature'
  if (claims.aud !== audience) return 'audience'
  if (claims.sub !== subject) return 'subject'
  const [nowSeconds, iat, exp] = [clock.now() / 1000, Number(claims.iat), Number(claims.exp)]
  return iat <= nowSeconds && nowSeconds < exp && exp - iat <= 86_400 ? undefined : 'time'
}

export function read(part = ''): Record<string, unknown> {
  return JSON.parse(Buffer.from(part, 'base64url').toString())
}

const PATIENCE_MS = 2000

async function getJson(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url, { signal: AbortSignal.timeout(PATIENCE_MS) })).json()) as Record<
    string,
    unknown
  >
}
