import { randomBytes } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, type Server, TLSSocket } from 'node:tls'

export type Certificate = { cert: Buffer; key: Buffer }

const TICKET_KEY_BYTES = 48
const SESSIONS_KEPT = 4

type Resumed = (error: Error | null, session: Buffer | null) => void

/**
 * The TLS of one control connection and its data connections. Its sessions and the keys of its session tickets are its
 * own, so only whoever knows the secrets of the control connection can resume its session for data.
 */
export class ControlTls {
  readonly #secureContext: SecureContext
  /** By id, for clients of TLS 1.2 that do not use tickets, such as curl. */
  readonly #sessions = new Map<string, Buffer>()
  readonly #keeper = new EventEmitter()

  constructor(certificate: Certificate) {
    const own = { ticketKeys: randomBytes(TICKET_KEY_BYTES), sessionIdContext: 'sluice-ftp' }
    this.#secureContext = createSecureContext({ ...certificate, ...own, minVersion: 'TLSv1.2' })
    this.#keeper.on('newSession', (id: Buffer, session: Buffer, done: () => void) => {
      this.#sessions.set(id.toString('hex'), session)
      if (this.#sessions.size > SESSIONS_KEPT) this.#sessions.delete(this.#sessions.keys().next().value!)
      done()
    })
    this.#keeper.on('resumeSession', (id: Buffer, resume: Resumed) =>
      resume(null, this.#sessions.get(id.toString('hex')) ?? null),
    )
  }

  /** Rejects if the handshake fails or takes too long. */
  async secure(socket: Socket, withinMs: number): Promise<TLSSocket> {
    // Node only stores sessions through the events of a server, of which there is one for each certificate, not for
    // each connection.
    const server = this.#keeper as Server
    const secured = new TLSSocket(socket, { isServer: true, secureContext: this.#secureContext, server })
    try {
      await once(secured, 'secure', { signal: AbortSignal.timeout(withinMs) })
      return secured
    } catch (error) {
      secured.on('error', () => {}).destroy()
      throw error
    }
  }
}
