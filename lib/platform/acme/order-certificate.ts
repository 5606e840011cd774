import { createHash, createPublicKey, type KeyObject, sign } from 'node:crypto'
import { seconds } from '../kernel/clock.ts'
import { pause } from '../kernel/waits.ts'

/**
 * The part of ACME (RFC 8555) that it takes to get a certificate for one host with the challenge tls-alpn-01. The
 * account is created with the first order, and found by its key after that.
 */
export type Order = {
  /** The authority's directory URL. */
  directory: string
  accountKey: KeyObject
  host: string
  signingRequest: Buffer
  /** Resolves once every node answers the challenge for the host with this digest. */
  present(digest: Buffer): Promise<void>
  signal: AbortSignal
}

/** An authority's reason for refusing something (RFC 8555, 6.7). */
export class AcmeError extends Error {
  readonly type: string
  constructor({ type = '', detail = '' }: Problem) {
    super(detail)
    this.type = type.replace(/^urn:ietf:params:acme:error:/, '')
  }
}

type Problem = { type?: string; detail?: string }
type Challenge = { type: string; url: string; token: string; error?: Problem }
type Resource = {
  status: string
  authorizations: string[]
  finalize: string
  certificate: string
  challenges: Challenge[]
  error?: Problem
}
type Session = Awaited<ReturnType<typeof openSession>>

/** Returns the certificate and those that it needs, in PEM. */
export async function orderCertificate(order: Order): Promise<string> {
  const session = await openSession(order)
  const identifiers = [{ type: 'dns', value: order.host }]
  const ordered = await session.post(session.urls.newOrder, { identifiers })
  for (const url of ordered.read().authorizations) await authorize(session, url, order)
  await session.post(ordered.read().finalize, { csr: order.signingRequest.toString('base64url') })
  const { certificate } = await settled(session, ordered.location)
  return (await session.post(certificate)).text
}

async function authorize(session: Session, url: string, { present }: Order): Promise<void> {
  const { status, challenges } = (await session.post(url)).read()
  // An authority may remember that this account has answered a challenge for the host before.
  if (status === 'valid') return
  const challenge = challenges.find(({ type }) => type === 'tls-alpn-01')
  if (!challenge) throw new Error('the certificate authority does not offer tls-alpn-01')
  const authorization = `${challenge.token}.${session.thumbprint}`
  await present(createHash('sha256').update(authorization).digest())
  await session.post(challenge.url, {})
  await settled(session, url)
}

/** Each poll waits longer than the one before, for 95 seconds in all. */
const POLLS = 19
const POLL_MS = seconds(0.5)
const UNDER_WAY = new Set(['pending', 'processing', 'ready'])

async function settled(session: Session, url: string): Promise<Resource> {
  for (let poll = 0; poll < POLLS; poll++) {
    const found = (await session.post(url)).read()
    if (found.status === 'valid') return found
    if (!UNDER_WAY.has(found.status)) {
      const failed = found.challenges?.find(({ error }) => error)
      throw new AcmeError(found.error ?? failed?.error ?? { detail: found.status })
    }
    await pause((poll + 1) * POLL_MS, session.signal)
  }
  throw new Error('the certificate authority did not come to a result')
}

const NONCES = 10

async function openSession({ directory, accountKey, signal }: Order) {
  const { crv, kty, x, y } = createPublicKey(accountKey).export({ format: 'jwk' })
  // The thumbprint needs the members in this order (RFC 7638, 3).
  const jwk = { crv, kty, x, y }
  let nonce: string | null = null
  let account: string | undefined
  const urls = (await (await call(directory)).json()) as Record<
    'newNonce' | 'newAccount' | 'newOrder',
    string
  >

  async function call(url: string, init?: RequestInit): Promise<Response> {
    // biome-ignore lint/style/noRestrictedGlobals: the operator chooses the authority, which may be a private one.
    const response = await fetch(url, { ...init, signal, redirect: 'error' })
    nonce = response.headers.get('replay-nonce')
    if (response.ok) return response
    const problem = (await response.json().catch(() => ({}))) as Problem
    throw new AcmeError({ detail: `status ${response.status}`, ...problem })
  }

  /** Without a payload, this is what other protocols do with GET (RFC 8555, 6.3). */
  async function post(url: string, payload?: object, attempt = 1) {
    if (nonce === null) await call(urls.newNonce, { method: 'HEAD' })
    const protectedHeader = { alg: 'ES256', nonce, url, ...(account ? { kid: account } : { jwk }) }
    const parts = [protectedHeader, payload].map((part) => base64url(part ? JSON.stringify(part) : ''))
    const key = { key: accountKey, dsaEncoding: 'ieee-p1363' } as const
    const signature = sign('sha256', Buffer.from(parts.join('.')), key).toString('base64url')
    const body = JSON.stringify({ protected: parts[0], payload: parts[1], signature })
    const headers = { 'Content-Type': 'application/jose+json' }
    try {
      const response = await call(url, { method: 'POST', headers, body })
      const text = await response.text()
      return {
        text,
        read: () => JSON.parse(text) as Resource,
        location: response.headers.get('location') ?? '',
      }
    } catch (error) {
      const isStale = error instanceof AcmeError && error.type === 'badNonce'
      if (isStale && attempt < NONCES) return post(url, payload, attempt + 1)
      throw error
    }
  }

  account = (await post(urls.newAccount, { termsOfServiceAgreed: true })).location
  const thumbprint = createHash('sha256').update(JSON.stringify(jwk)).digest('base64url')
  return { urls, thumbprint, signal, post }
}

const base64url = (text: string) => Buffer.from(text).toString('base64url')
