import { createSecureContext, type SecureContext, type TLSSocket, type TlsOptions } from 'node:tls'
import { challengeCertificate } from '../../lib/platform/acme/certificates.ts'
import { runRequest } from '../../lib/platform/kernel/request-context.ts'
import { readHostCertificate } from '../../lib/upload-links/host-certificates.ts'
import type { FoundHost } from '../../lib/upload-links/link-host.ts'
import type { Opened } from './front-door.ts'

/** The protocol by which an authority asks for the answer to a challenge (RFC 8737, 4). */
const CHALLENGE = 'acme-tls/1'
const HTTP = 'http/1.1'
/** Each takes about 30 KiB. */
const MOST_CONTEXTS = 500

type Opening = Promise<Pick<Opened, 'runtime' | 'findLinkHost'>>
type Done = (error: Error | null, context?: SecureContext) => void
type Alpn = { servername: string; protocols: string[] }

/**
 * Options for a TLS server that chooses the certificate by the host that the client names: that of a workspace's verified
 * host, and otherwise the configured one, as it does for all until the process has started. Made-up names cause no
 * statements of their own, because all hosts are read at once.
 */
export function hostCertificates(opening: Opening, { mostContexts = MOST_CONTEXTS } = {}) {
  let opened: Awaited<Opening> | undefined
  void opening.then((now) => {
    opened = now
  })
  const contextOf = createContexts(mostContexts)
  const challenged = new WeakSet<TLSSocket>()

  async function choose(socket: TLSSocket, host: string): Promise<SecureContext | undefined> {
    const found = await opened?.findLinkHost(host)
    if (!challenged.has(socket)) return found && (await contextOf(opened!.runtime, host, found))
    if (!found?.challenge) throw new Error('no challenge is under way for this host')
    const digest = Buffer.from(found.challenge, 'hex')
    return createSecureContext(challengeCertificate(host, digest, opened!.runtime.clock.now()))
  }

  return {
    SNICallback(this: TLSSocket, name: string, done: Done) {
      // Like a request for a page, a handshake does not wait for a database that is away.
      const context = { id: 'tls', traceparent: undefined, failsSoon: true, notes: {} }
      runRequest(context, () => choose(this, name.toLowerCase())).then(
        (context) => done(null, context),
        // A page on this host then fails, but one on the configured host does not.
        (error: Error) => (challenged.has(this) ? done(error) : done(null)),
      )
    },
    /** In TLS 1.3, which authorities use, this is called before the certificate is chosen. */
    ALPNCallback(this: TLSSocket, { servername, protocols }: Alpn) {
      if (!protocols.includes(CHALLENGE)) return protocols.find((protocol) => protocol === HTTP)
      if (!servername) return undefined
      challenged.add(this)
      return CHALLENGE
    },
  } as Pick<TlsOptions, 'SNICallback' | 'ALPNCallback'>
}

type Kept = { version: number | undefined; context: Promise<SecureContext | undefined> }

/** Keeps the contexts of the hosts that were asked for last. */
function createContexts(most: number) {
  const kept = new Map<string, Kept>()
  return (runtime: Opened['runtime'], host: string, { certificateDueAt }: FoundHost) => {
    const load = async () => {
      const certificate = await readHostCertificate(runtime, host)
      return certificate && createSecureContext(certificate)
    }
    const version = certificateDueAt?.getTime()
    const before = kept.get(host)
    const now = before && before.version === version ? before : { version, context: load() }
    kept.delete(host)
    kept.set(host, now)
    if (kept.size > most) kept.delete(kept.keys().next().value!)
    now.context.catch((err: unknown) => {
      runtime.log.warn({ err, host }, 'cannot use the certificate of a host')
      if (kept.get(host) === now) kept.delete(host)
    })
    return now.context
  }
}
