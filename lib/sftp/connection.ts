import type {
  AuthContext,
  Connection as Client,
  PasswordAuthContext,
  PublicKeyAuthContext,
  Session as SshSession,
} from 'ssh2'
import type { FileDeps } from '../folders/open-file.ts'
import type { Refusal, Refusals } from '../folders/refusals.ts'
import type { Accepted, Served } from '../folders/serve-connections.ts'
import { Session } from '../folders/session.ts'
import { type SignedIn, signInByToken } from '../folders/sign-in.ts'
import { seconds } from '../platform/kernel/clock.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { type RequestContext, runRequest } from '../platform/kernel/request-context.ts'
import type { Logger } from '../platform/log/log.ts'
import type { Turns } from '../platform/turns.ts'
import { Channel } from './channel.ts'
import { signInByKey } from './sign-in-by-key.ts'
import type { SftpTerms } from './terms.ts'

export type ConnectionDeps = FileDeps & {
  config: { demo: boolean }
  terms: SftpTerms
  log: Logger
  refusals: Refusals
  turns: Turns
}

const METHODS = ['publickey', 'password'] as const
/** If a client leaves more than this unread, its requests are no longer read. */
const UNREAD_BYTES = 256 * 1024
/** Clients exchange keys again after about a GiB. More frequent exchanges only cost CPU time, so they are limited. */
const EXCHANGES = 5
const EXCHANGE_PER_BYTES = 64 * 1024 * 1024

/**
 * One connection: who signed in, when it is read, and when it ends. It is only read while its data can be passed on;
 * otherwise, the bytes wait in the sockets and in the client, not in this process's memory.
 */
export class Connection implements Served {
  readonly #deps: ConnectionDeps
  readonly #accepted: Accepted
  readonly #request: RequestContext
  readonly #holds = new Set<unknown>()
  readonly #channels = new Set<Channel>()
  readonly #ended = Promise.withResolvers<void>()
  readonly #sinceMs: number
  #client: Client | undefined
  #session: Session | undefined
  #attempts = 0
  #signingIn: Promise<void> | undefined
  #exchanges = 0
  #unusedSessions = 0
  #handles = 0
  #unanswered = 0
  #activeMs: number

  constructor(deps: ConnectionDeps, accepted: Accepted) {
    this.#deps = deps
    this.#accepted = accepted
    const { address } = accepted
    this.#request = {
      id: uuidv7(),
      traceparent: undefined,
      client: address,
      notes: { protocol: 'sftp' },
    }
    this.#sinceMs = deps.context.clock.now()
    this.#activeMs = this.#sinceMs
    accepted.socket.setKeepAlive(true, seconds(30))
    accepted.socket.setNoDelay(true)
    accepted.socket.once('close', () => void this.#over())
    // A terminated connection reports errors at every layer.
    accepted.socket.on('error', () => {})
  }

  get ended(): Promise<void> {
    return this.#ended.promise
  }

  get isOver(): boolean {
    return this.#accepted.socket.destroyed
  }

  /** Call this once the client has identified itself as an SSH client. */
  begin(client: Client): void {
    this.#client = client
    const { socket } = this.#accepted
    client.on('error', (err) => this.#deps.log.debug({ err, client: this.#request.client }, 'sftp: a client'))
    client.on('authentication', (attempt) => {
      this.#signingIn = this.#authenticate(attempt)
    })
    client.on('ready', () => this.#accepted.admitted.signedIn())
    client.on('handshake', () => this.#countExchange())
    client.on('session', (accept, reject) => {
      const { channels, unusedSessions } = this.#deps.terms
      if (this.#channels.size >= channels || this.#unusedSessions >= unusedSessions) return reject()
      this.#openSession(accept())
    })
    socket.on('data', () => {
      if (!this.#session && socket.bytesRead > this.#deps.terms.signInBytes) this.refuse('sign_in_bytes')
    })
    socket.on('drain', () => this.release(socket))
  }

  look(nowMs: number): void {
    const { signInMs, idleMs } = this.#deps.terms
    const isLate = !this.#session && nowMs - this.#sinceMs >= signInMs
    const isIdle = this.#unanswered === 0 && nowMs - this.#activeMs >= idleMs
    if (isLate) this.refuse('sign_in_late')
    else if (isIdle) this.destroy()
  }

  /** Counts a refusal, and closes the connection immediately. */
  refuse(reason: Refusal): void {
    if (!this.isOver) this.#deps.refusals.count(reason, this.#accepted.address)
    this.destroy()
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#channels].map((channel) => channel.cut()))
    this.end()
  }

  end(): void {
    this.#client?.end()
    this.#accepted.socket.destroySoon()
  }

  destroy(): void {
    this.#accepted.socket.destroy()
  }

  /** Runs one request on a channel. */
  answering(work: () => Promise<void>): void {
    this.#activeMs = this.#deps.context.clock.now()
    this.#unanswered += 1
    this.#regulate()
    runRequest(this.#request, work)
      .catch((err: unknown) => this.#deps.log.error({ err }, 'sftp: a request failed'))
      .finally(() => {
        this.#unanswered -= 1
        this.#regulate()
      })
  }

  hold(reason: unknown): void {
    this.#holds.add(reason)
    this.#accepted.socket.pause()
  }

  release(reason: unknown): void {
    if (this.#holds.delete(reason) && this.#holds.size === 0 && !this.isOver) this.#accepted.socket.resume()
  }

  /**
   * Makes the responses of one turn of the event loop go out in one system call, because a client that sends a lot of
   * data needs thousands of responses per second.
   */
  gatherAnswers(): void {
    const { socket } = this.#accepted
    if (socket.writableCorked > 0) return
    socket.cork()
    setImmediate(() => socket.uncork())
  }

  /** Returns false if the connection has reached its limit of open files and directories. */
  takeHandle(): boolean {
    if (this.#handles >= this.#deps.terms.handles) return false
    this.#handles += 1
    return true
  }

  leaveHandle(): void {
    this.#handles -= 1
  }

  async #revoke(error: unknown): Promise<void> {
    await Promise.all([...this.#channels].map((channel) => channel.cut(error)))
    this.end()
  }

  async #authenticate(attempt: AuthContext): Promise<void> {
    if (attempt.method !== 'password' && attempt.method !== 'publickey') return attempt.reject([...METHODS])
    if (++this.#attempts > this.#deps.terms.signInAttempts) {
      this.#deps.refusals.count('sign_in_attempts', this.#accepted.address)
      return this.end()
    }
    const { username: user } = attempt
    try {
      const signedIn = await runRequest(this.#request, () => this.#signIn(attempt))
      if (signedIn) this.#enter(signedIn)
      attempt.accept()
    } catch (err) {
      const isFault = !isSluiceError(err) || err.status >= 500
      const client = this.#accepted.address
      this.#deps.log[isFault ? 'warn' : 'debug']({ err, user, client }, 'sftp: a sign-in failed')
      if (!isFault) this.#deps.refusals.count(attempt.method === 'password' ? 'password' : 'key', client)
      if (!this.isOver) attempt.reject([...METHODS])
    }
  }

  /** Returns undefined if the client has only asked whether its key would be accepted. */
  async #signIn(attempt: PasswordAuthContext | PublicKeyAuthContext): Promise<SignedIn | undefined> {
    const { username: user } = attempt
    const { context, config } = this.#deps
    if (attempt.method === 'password')
      return signInByToken(context, { user, password: attempt.password, protocol: 'sftp' })
    return signInByKey({ ...context, config }, { user, from: this.#accepted.address, offer: attempt })
  }

  #enter(signedIn: SignedIn): void {
    const { workspaceId, pipeId, key } = signedIn
    const { address } = this.#accepted
    const fingerprint = key?.fingerprint ?? null
    Object.assign(this.#request.notes, { workspaceId, pipeId })
    const onRevoked = (error: unknown) => void this.#revoke(error)
    this.#session = new Session(this.#deps, signedIn, {
      opening: { protocol: 'sftp', address, fingerprint },
      onRevoked,
    })
    this.#activeMs = this.#deps.context.clock.now()
    this.#deps.log.info({ ...this.#request.notes, client: address, fingerprint }, 'sftp: signed in')
  }

  #openSession(session: SshSession): void {
    // ssh2 keeps a session without SFTP until the connection ends, even if the client closes it.
    this.#unusedSessions += 1
    session.once('sftp', (accept, reject) => {
      // Several sessions may have been opened before the first of them started SFTP.
      if (this.#channels.size >= this.#deps.terms.channels) return reject()
      this.#unusedSessions -= 1
      const channel = new Channel(accept(), { connection: this, session: this.#session!, ...this.#deps })
      this.#channels.add(channel)
      channel.closed.finally(() => this.#channels.delete(channel))
    })
  }

  #countExchange(): void {
    this.#exchanges += 1
    const allowed = EXCHANGES + this.#accepted.socket.bytesRead / EXCHANGE_PER_BYTES
    if (this.#exchanges > allowed) this.refuse('exchanged_again')
  }

  /** Pauses or resumes the connection after a request has arrived or a response has been sent. */
  #regulate(): void {
    const { socket } = this.#accepted
    if (this.#unanswered >= this.#deps.terms.unanswered) this.hold(this)
    else this.release(this)
    if (socket.writableLength > UNREAD_BYTES) this.hold(socket)
  }

  async #over(): Promise<void> {
    this.#accepted.admitted.left()
    this.#holds.clear()
    try {
      await Promise.all([this.#signingIn, ...[...this.#channels].map((channel) => channel.cut())])
      await this.#session?.end()
    } catch (err) {
      this.#deps.log.warn({ err, client: this.#accepted.address }, 'sftp: a session was not cleaned up')
    } finally {
      this.#ended.resolve()
    }
  }
}
