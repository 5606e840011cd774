import type { Socket } from 'node:net'
import type { FileDeps } from '../folders/open-file.ts'
import type { Refusal, Refusals } from '../folders/refusals.ts'
import { type Accepted, plainAddress, type Served } from '../folders/serve-connections.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { type RequestContext, runRequest } from '../platform/kernel/request-context.ts'
import type { Logger } from '../platform/log/log.ts'
import type { Config } from '../platform/settings/config.ts'
import type { Turns } from '../platform/turns.ts'
import { type Command, CommandLines } from './command-lines.ts'
import { Dialogue } from './dialogue.ts'
import type { PassivePorts } from './passive-ports.ts'
import type { FtpTerms } from './terms.ts'
import { type Certificate, ControlTls } from './tls.ts'

export type ConnectionDeps = FileDeps & {
  config: Config
  log: Logger
  terms: FtpTerms
  refusals: Refusals
  turns: Turns
  passive: PassivePorts
  /** Undefined if this server has no certificate. */
  certificate: (() => Certificate) | undefined
}

/** If a client leaves more than this unread, its connection is closed. */
const UNREAD_BYTES = 64 * 1024

/**
 * One control connection: its commands one after another, its replies, its encryption, and when it ends. What the
 * commands do is in the dialogue.
 */
export class Connection implements Served {
  readonly address: string
  readonly request: RequestContext
  readonly #deps: ConnectionDeps
  readonly #accepted: Accepted
  readonly #dialogue: Dialogue
  readonly #sinceMs: number
  readonly #ended = Promise.withResolvers<void>()
  /** Resolves when the client can send no more commands. */
  readonly #gone = Promise.withResolvers<void>()
  #socket: Socket
  #tls: ControlTls | undefined
  #lines: CommandLines
  #waiting: Command[] = []
  #arrived = Promise.withResolvers<void>()
  #running: Promise<void> | undefined
  #activeMs: number
  #isGone = false

  constructor(deps: ConnectionDeps, accepted: Accepted) {
    const { socket, address } = accepted
    this.#deps = deps
    this.#accepted = accepted
    this.#socket = socket
    this.address = address
    this.request = { id: uuidv7(), traceparent: undefined, client: address, notes: { protocol: 'ftp' } }
    this.#lines = new CommandLines(deps.terms.lineBytes)
    this.#sinceMs = deps.context.clock.now()
    this.#activeMs = this.#sinceMs
    this.#dialogue = new Dialogue(deps, this)
    socket.setKeepAlive(true, seconds(30))
    socket.setNoDelay(true)
    socket.once('close', () => void this.#over())
    this.#listen(socket)
    this.reply(220, 'Sluice accepts uploads.')
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Set once the control connection is encrypted. */
  get tls(): ControlTls | undefined {
    return this.#tls
  }

  /** The address of this server that the client has connected to. */
  get localAddress(): string {
    return plainAddress({ remoteAddress: this.#accepted.socket.localAddress })
  }

  look(nowMs: number): void {
    const { signInMs, idleMs } = this.#deps.terms
    if (!this.#dialogue.isSignedIn && nowMs - this.#sinceMs >= signInMs) this.refuse('sign_in_late')
    else if (this.#dialogue.waitsForClient(this.#running !== undefined) && nowMs - this.#activeMs >= idleMs)
      this.end(421, 'The connection was idle for too long.')
  }

  /** Counts a refusal, and closes the connection immediately. */
  refuse(reason: Refusal): void {
    if (!this.#socket.destroyed) this.#deps.refusals.count(reason, this.address)
    this.destroy()
  }

  async stop(): Promise<void> {
    await this.#dialogue.cut()
    this.end(421, 'This node is stopping. Connect again and resume.')
  }

  end(code: number, text: string): void {
    this.reply(code, text)
    this.#socket.end()
    this.#socket.destroySoon()
  }

  destroy(): void {
    this.#socket.destroy()
    this.#accepted.socket.destroy()
  }

  reply(code: number, text: string, lines?: string[]): void {
    if (this.#socket.destroyed || this.#socket.writableEnded) return
    const plain = text.replace(/\p{Cc}+/gu, ' ')
    if (lines) this.#socket.write(`${code}-${plain}\r\n${lines.map((line) => ` ${line}\r\n`).join('')}`)
    this.#socket.write(lines ? `${code} End.\r\n` : `${code} ${plain}\r\n`)
    if (this.#socket.writableLength > UNREAD_BYTES) this.refuse('unread_answers')
  }

  signedIn(): void {
    this.#accepted.admitted.signedIn()
  }

  /** Call this whenever bytes arrive. */
  noteActivity(): void {
    this.#activeMs = this.#deps.context.clock.now()
  }

  /**
   * Waits until it is clear whether the client is still there. Resolves with true if it is: it has sent another command,
   * or its connection is still open after a while.
   */
  async isStillThere(): Promise<boolean> {
    if (this.#waiting.length === 0 && !this.#isGone) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, this.#deps.terms.settleMs)
      await Promise.race([promise, this.#gone.promise, this.#arrived.promise])
      clearTimeout(timer)
    }
    return !this.#isGone || this.#isQuitting
  }

  /** Encrypts the connection. Everything that the client has said so far is forgotten. */
  async startTls(certificate: Certificate): Promise<void> {
    this.#socket.removeAllListeners('data')
    if (this.#lines.hasRest || this.#waiting.length > 0 || this.#socket.readableLength > 0)
      return this.refuse('bytes_before_tls')
    this.reply(234, 'Start the TLS handshake.')
    this.#lines = new CommandLines(this.#deps.terms.lineBytes)
    this.#tls = new ControlTls(certificate)
    try {
      this.#socket = await this.#tls.secure(this.#socket, this.#deps.terms.signInMs)
    } catch {
      return this.destroy()
    }
    this.#listen(this.#socket)
  }

  get #isQuitting(): boolean {
    return this.#waiting.some(({ verb }) => verb === 'QUIT')
  }

  #listen(socket: Socket): void {
    // A terminated connection reports errors at every layer.
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => this.#take(chunk))
    for (const event of ['end', 'close'] as const) socket.once(event, () => this.#leave())
  }

  #take(chunk: Buffer): void {
    this.noteActivity()
    const commands = this.#lines.add(chunk)
    if (!commands || this.#waiting.length + commands.length > this.#deps.terms.waitingCommands) {
      this.reply(500, 'That command is too long, or there are too many at once.')
      this.refuse('malformed')
      return
    }
    this.#waiting.push(...commands)
    const isUpgrading = commands.some(({ verb }) => verb === 'AUTH')
    // What follows AUTH in plain text may have been added by somebody else, and must not be taken for encrypted.
    if (isUpgrading && (commands.at(-1)!.verb !== 'AUTH' || this.#lines.hasRest)) {
      this.refuse('bytes_before_tls')
      return
    }
    if (isUpgrading) this.#socket.pause()
    if (commands.some(({ verb }) => verb === 'ABOR')) void this.#dialogue.abort()
    this.#arrived.resolve()
    this.#runNext()
  }

  #runNext(): void {
    if (this.#running || this.#socket.destroyed) return
    const command = this.#waiting.shift()
    if (!command) return
    this.#arrived = Promise.withResolvers()
    this.#running = runRequest(this.request, () => this.#dialogue.run(command))
      .catch((err: unknown) => this.#deps.log.error({ err }, 'ftp: a command failed'))
      .finally(() => {
        this.#running = undefined
        if (command.verb === 'AUTH') this.#socket.resume()
        this.#runNext()
      })
  }

  #leave(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#gone.resolve()
    if (!this.#isQuitting) void this.#dialogue.cut()
  }

  async #over(): Promise<void> {
    this.#leave()
    this.#accepted.admitted.left()
    try {
      await this.#running
      await this.#dialogue.end()
    } catch (err) {
      this.#deps.log.warn({ err, client: this.address }, 'ftp: a session was not cleaned up')
    } finally {
      this.#ended.resolve()
    }
  }
}
