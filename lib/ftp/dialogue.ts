import { Session } from '../folders/session.ts'
import type { SignedIn } from '../folders/sign-in.ts'
import { isSluiceError } from '../platform/kernel/errors.ts'
import type { Command } from './command-lines.ts'
import type { Connection, ConnectionDeps } from './connection.ts'
import { FolderCommands } from './folder-commands.ts'
import { codeOf, messageOf } from './replies.ts'
import { type FtpProtocol, signIn } from './sign-in.ts'

/** The same for every refusal, so that it does not tell which Pipes exist. */
const NOT_SIGNED_IN =
  "The sign-in failed. The user name is a Pipe's id, the password a temporary token or a Sender token, and the Pipe must accept this kind of connection."

type Run = (argument: string) => void | Promise<void>

/** What a client says on its control connection, and the replies. */
export class Dialogue {
  readonly #deps: ConnectionDeps
  readonly #connection: Connection
  readonly #commands: Record<string, Run>
  #user: string | undefined
  #attempts = 0
  #session: Session | undefined
  #folder: FolderCommands | undefined

  constructor(deps: ConnectionDeps, connection: Connection) {
    this.#deps = deps
    this.#connection = connection
    const reply = (code: number, text: string) => () => connection.reply(code, text)
    this.#commands = {
      USER: (user) => this.#takeUser(user),
      PASS: (password) => this.#takePassword(password),
      AUTH: (mechanism) => this.#upgrade(mechanism),
      FEAT: () => connection.reply(211, 'Features:', this.#features()),
      OPTS: (option) =>
        /^utf8( on)?$/i.test(option)
          ? connection.reply(200, 'Names are always UTF-8.')
          : connection.reply(501, 'There is no such option.'),
      SYST: reply(215, 'UNIX Type: L8'),
      NOOP: reply(200, 'OK.'),
      QUIT: () => connection.end(221, 'Goodbye.'),
    }
  }

  get isSignedIn(): boolean {
    return this.#folder !== undefined
  }

  /** Whether the next step is up to the client, so that its silence counts. */
  waitsForClient(isRunning: boolean): boolean {
    return !isRunning || this.#folder?.isTransferring === true
  }

  async run({ verb, argument }: Command): Promise<void> {
    const connection = this.#connection
    const run = this.#commands[verb]
    if (run) return run(argument)
    if (!this.#folder || !this.#session) return connection.reply(530, 'Sign in with USER and PASS first.')
    const inFolder = this.#folder.commands[verb]
    if (!inFolder) return connection.reply(502, 'This command is not supported.')
    try {
      await this.#session.stillAllowed()
      await inFolder(argument)
    } catch (error) {
      if (!isSluiceError(error)) this.#deps.log.error({ err: error, verb }, 'ftp: a command failed')
      connection.reply(codeOf(error), messageOf(error))
    }
  }

  /** Stops a transfer, as the client has requested. Its bytes are kept. */
  async abort(): Promise<void> {
    await this.#folder?.cut()
  }

  /** Stores the bytes received, without completing the file. */
  async cut(error?: unknown): Promise<void> {
    await this.#folder?.cut(error)
  }

  async end(): Promise<void> {
    this.#folder?.end()
    await this.#session?.end()
  }

  #features(): string[] {
    const tls = this.#deps.certificate ? ['AUTH TLS', 'PBSZ', 'PROT'] : []
    return [...tls, 'EPSV', 'MDTM', 'MLST type*;size*;modify*;', 'REST STREAM', 'SIZE', 'UTF8']
  }

  get #protocol(): FtpProtocol {
    return this.#connection.tls ? 'ftps' : 'ftp'
  }

  #takeUser(user: string): void {
    const isReadable = this.#protocol === 'ftp' && !this.#deps.config.ftp?.plain
    this.#user = isReadable ? undefined : user
    // Otherwise, the client would send its password next.
    if (isReadable)
      this.#connection.reply(530, 'This server requires encryption: explicit FTP over TLS (AUTH TLS).')
    else this.#connection.reply(331, 'Send the password.')
  }

  async #takePassword(password: string): Promise<void> {
    const { context, config, terms, refusals, log } = this.#deps
    const { address } = this.#connection
    if (this.isSignedIn) return this.#connection.reply(503, 'You are signed in.')
    if (this.#user === undefined) return this.#connection.reply(503, 'Send USER first.')
    const [user, protocol] = [this.#user, this.#protocol]
    this.#user = undefined
    if (++this.#attempts > terms.signInAttempts) {
      refusals.count('sign_in_attempts', address)
      return this.#connection.end(421, 'Too many attempts.')
    }
    try {
      this.#enter(await signIn({ ...context, config }, { user, password, protocol }), protocol)
      this.#connection.reply(230, 'You are signed in.')
    } catch (err) {
      const isFault = !isSluiceError(err) || err.status >= 500
      log[isFault ? 'warn' : 'debug']({ err, user, client: address }, 'ftp: a sign-in failed')
      if (isFault) return this.#connection.reply(421, 'Signing in is not possible right now. Try again.')
      refusals.count('password', address)
      this.#connection.reply(530, NOT_SIGNED_IN)
    }
  }

  #enter({ signedIn, takesPlain }: { signedIn: SignedIn; takesPlain: boolean }, protocol: FtpProtocol): void {
    const { workspaceId, pipeId } = signedIn
    const { address, request } = this.#connection
    const opening = { protocol, address, fingerprint: null }
    Object.assign(request.notes, { workspaceId, pipeId, protocol })
    this.#session = new Session(this.#deps, signedIn, {
      opening,
      onRevoked: (error) => void this.cut(error).then(() => this.#connection.end(421, messageOf(error))),
    })
    this.#folder = new FolderCommands(this.#deps, this.#connection, {
      session: this.#session,
      takesPlain,
    })
    this.#connection.signedIn()
    this.#deps.log.info({ ...request.notes, client: address }, 'ftp: signed in')
  }

  #upgrade(mechanism: string): void | Promise<void> {
    const { certificate } = this.#deps
    if (!/^TLS(-C)?$/i.test(mechanism)) return this.#connection.reply(504, 'Use AUTH TLS.')
    if (!certificate) return this.#connection.reply(502, 'This server has no certificate.')
    if (this.#connection.tls) return this.#connection.reply(503, 'The connection is encrypted.')
    if (this.isSignedIn) return this.#connection.reply(503, 'Encrypt the connection before you sign in.')
    this.#user = undefined
    return this.#connection.startTls(certificate())
  }
}
