import type { Socket } from 'node:net'
import { notNow, SluiceError } from '../platform/kernel/errors.ts'
import { activePort } from './active-port.ts'
import type { Connection, ConnectionDeps } from './connection.ts'

/** How the next data connection is made. `release` closes it, too. */
type Next = { connect(): Promise<Socket>; release(): void }

/** A session's data connections, one at a time. */
export class DataChannel {
  readonly #deps: ConnectionDeps
  readonly #connection: Connection
  readonly #takesPlain: boolean
  #next: Next | undefined
  #isPrivate = false

  constructor(deps: ConnectionDeps, connection: Connection, takesPlain: boolean) {
    this.#deps = deps
    this.#connection = connection
    this.#takesPlain = takesPlain
  }

  /** Opens a port for the client's next data connection. */
  async reserve(): Promise<number> {
    this.release()
    const { port, connected, release } = await this.#deps.passive.reserve(this.#connection.address)
    this.#next = { connect: () => connected, release }
    return port
  }

  /** Connects to this port of the client for its next transfer. Returns false if that is not allowed. */
  dial(address: string, port: number): boolean {
    this.release()
    const client = this.#connection.address
    this.#next = activePort(client, address, port)
    if (!this.#next) this.#deps.refusals.count('data_elsewhere', client)
    return this.#next !== undefined
  }

  release(): void {
    this.#next?.release()
    this.#next = undefined
  }

  protect(level: string): void {
    if (!this.#connection.tls)
      throw new SluiceError('conflict', 'Encrypt the connection with AUTH TLS first.')
    if (!/^[CP]$/i.test(level)) throw new SluiceError('conflict', 'Use PROT P or PROT C.')
    this.#isPrivate = level.toUpperCase() === 'P'
    if (!this.#isPrivate) this.assertPrivate()
  }

  /** Throws if the next transfer would not be encrypted, although the Pipe requires it. */
  assertPrivate(): void {
    if (this.#isPrivate || this.#takesPlain) return
    throw new SluiceError('forbidden', 'This Pipe requires encrypted data connections. Send PROT P first.')
  }

  /** The connection for a transfer. `begin` is called before its TLS handshake. */
  async open(begin: () => void): Promise<Socket> {
    if (!this.#next) throw new SluiceError('conflict', 'Send EPSV or PASV first.')
    const socket = await within(this.#next.connect(), this.#deps.terms.dataMs)
    begin()
    return this.#isPrivate ? this.#secure(socket) : socket
  }

  /**
   * A stranger behind the client's address could connect to its port first. Resuming the TLS session of the control
   * connection proves that it is the client. Some devices cannot do that; their Pipe has to accept unencrypted FTP,
   * which protects data connections no better.
   */
  async #secure(socket: Socket): Promise<Socket> {
    const { terms, refusals } = this.#deps
    const secured = await this.#connection.tls!.secure(socket, terms.dataMs).catch(() => {
      throw notNow('The TLS handshake of the data connection failed.')
    })
    if (secured.isSessionReused() || this.#takesPlain) return secured
    secured.on('error', () => {}).destroy()
    refusals.count('data_session', this.#connection.address)
    throw new SluiceError(
      'forbidden',
      'The data connection did not resume the TLS session of the control connection. Switch TLS session reuse on in your client.',
    )
  }
}

async function within(connected: Promise<Socket>, ms: number): Promise<Socket> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(notNow('No data connection was opened.')), ms)
  return Promise.race([connected, promise]).finally(() => clearTimeout(timer))
}
