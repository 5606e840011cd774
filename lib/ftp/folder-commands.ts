import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Directory, noSuchFile, type OpenMode, unreadable } from '../folders/directory.ts'
import type { Entry } from '../folders/entries.ts'
import { type Listed, listingLine } from '../folders/listing-line.ts'
import type { OpenFile } from '../folders/open-file.ts'
import { isRoot, type Place, pathOf, readPath } from '../folders/paths.ts'
import type { Session } from '../folders/session.ts'
import { notNow, SluiceError } from '../platform/kernel/errors.ts'
import { uuidv7 } from '../platform/kernel/ids.ts'
import { currentOwner, inTurn } from '../platform/turns.ts'
import type { Connection, ConnectionDeps } from './connection.ts'
import { DataChannel } from './data-channel.ts'
import { codeOf, factsOf, messageOf, quoted, timeOf } from './replies.ts'

type Run = (argument: string) => void | Promise<void>
/** `error` says why it is to end. */
type Transfer = { socket?: Socket; file?: OpenFile; error?: unknown }
type Line = (name: string, entry: Listed) => string

const LISTED_AT_ONCE = 1000
const IPV4 = /^\d+\.\d+\.\d+\.\d+$/
/** `h1,h2,h3,h4,p1,p2` (RFC 959), and `|family|address|port|` with any delimiter (RFC 2428). */
const PORT_FIELDS = /^(?<host>(?:\d{1,3},){3}\d{1,3}),(?<high>\d{1,3}),(?<low>\d{1,3})$/
const EPRT_FIELDS = /^(.)[12]\1(?<host>[\d.:a-fA-F]+)\1(?<low>\d{1,5})\1$/
const FOLDER: Listed = { isFolder: true, sizeBytes: 0, modifiedMs: 0 }
const STORE: OpenMode = { creates: true, exclusive: false, truncates: true, appends: false }

/** The commands of a client that has signed in. */
export class FolderCommands {
  readonly commands: Record<string, Run>
  readonly #deps: ConnectionDeps
  readonly #connection: Connection
  readonly #session: Session
  readonly #data: DataChannel
  #folder: Place = readPath('/')
  #renameFrom: Place | undefined
  #restartOffset = 0
  #allocatedBytes = 0
  #transfer: Transfer | undefined

  constructor(
    deps: ConnectionDeps,
    connection: Connection,
    { session, takesPlain }: { session: Session; takesPlain: boolean },
  ) {
    this.#deps = deps
    this.#connection = connection
    this.#session = session
    this.#data = new DataChannel(deps, connection, takesPlain)
    this.commands = { ...this.#parameters(), ...this.#paths(), ...this.#transfers() }
  }

  get isTransferring(): boolean {
    return this.#transfer !== undefined
  }

  /** Ends the transfer. The bytes received are stored, and the file can be resumed. */
  async cut(
    error: unknown = notNow('The transfer was aborted. The bytes received are kept.'),
  ): Promise<void> {
    const transfer = this.#transfer
    if (!transfer) return
    transfer.error ??= error
    this.#data.release()
    transfer.socket?.destroy()
    await transfer.file?.cut(error)
  }

  end(): void {
    this.#data.release()
  }

  #parameters(): Record<string, Run> {
    const reply = (code: number, text: string) => this.#connection.reply(code, text)
    const dial = (found: RegExpMatchArray | null) => {
      if (!this.#deps.config.ftp?.active) return reply(502, 'Active mode is not supported. Use passive mode.')
      if (!found?.groups) return reply(501, 'That is not an address and a port.')
      const { host, high = '0', low } = found.groups
      if (this.#data.dial(host!.replaceAll(',', '.'), Number(high) * 256 + Number(low))) reply(200, 'OK.')
      else reply(504, 'Active mode requires the address of this connection, and a port from 1024 on.')
    }
    const only = (pattern: RegExp, wrong: string) => (argument: string) =>
      pattern.test(argument) ? reply(200, 'OK.') : reply(504, wrong)
    return {
      TYPE: only(/^([AI]( N)?|L 8)$/i, 'Use TYPE I.'),
      MODE: only(/^S$/i, 'Use MODE S.'),
      STRU: only(/^F$/i, 'Use STRU F.'),
      PBSZ: () => reply(200, 'PBSZ=0'),
      PROT: (level) => {
        this.#data.protect(level)
        reply(200, 'OK.')
      },
      ALLO: (size) => {
        this.#allocatedBytes = Number(size.match(/^\d{1,15}/)?.[0] ?? 0)
        reply(202, 'Space is not limited.')
      },
      REST: (offset) => {
        if (!/^\d{1,15}$/.test(offset)) return reply(501, 'REST takes a number of bytes.')
        this.#restartOffset = Number(offset)
        reply(350, `The next STOR continues at byte ${offset}.`)
      },
      ABOR: () => reply(226, 'No transfer is running.'),
      EPSV: async (family) => {
        if (/^all$/i.test(family)) return reply(200, 'OK.')
        reply(229, `Connect to (|||${await this.#data.reserve()}|)`)
      },
      PASV: async () => {
        const address = this.#deps.config.ftp?.publicAddress ?? this.#connection.localAddress
        if (!IPV4.test(address)) return reply(522, 'Use EPSV, because this connection uses IPv6.')
        const port = await this.#data.reserve()
        reply(227, `Connect to (${[...address.split('.'), port >> 8, port & 255].join(',')})`)
      },
      PORT: (fields) => dial(fields.match(PORT_FIELDS)),
      EPRT: (fields) => dial(fields.match(EPRT_FIELDS)),
    }
  }

  #paths(): Record<string, Run> {
    const { directory } = this.#session
    const reply = (code: number, text: string) => this.#connection.reply(code, text)
    const change = async (place: Place) => {
      if (!(await this.#query(() => directory.hasFolder(place)))) throw noSuchFile()
      this.#folder = place
      reply(250, 'OK.')
    }
    return {
      PWD: () => reply(257, quoted(pathOf(this.#folder))),
      CWD: (path) => change(this.#place(path)),
      CDUP: () => change(this.#place('..')),
      MKD: async (path) => {
        await this.#query(() => directory.makeFolder(this.#place(path)))
        reply(257, `${quoted(pathOf(this.#place(path)))} exists.`)
      },
      RMD: async (path) => {
        await this.#query(() => directory.removeFolder(this.#place(path)))
        reply(250, 'OK.')
      },
      DELE: async (path) => {
        await this.#query(() => directory.remove(this.#place(path)))
        reply(250, 'OK.')
      },
      RNFR: async (path) => {
        const place = this.#place(path)
        await this.#query(() => directory.get(place))
        this.#renameFrom = place
        reply(350, 'Send the new name.')
      },
      RNTO: async (path) => {
        const from = this.#renameFrom
        this.#renameFrom = undefined
        if (!from) return reply(503, 'Send RNFR first.')
        await this.#query(() => directory.rename(from, this.#place(path)))
        reply(250, 'OK.')
      },
      SIZE: async (path) => reply(213, String((await this.#look(path)).sizeBytes)),
      MDTM: async (path) => reply(213, timeOf((await this.#look(path)).modifiedMs)),
      MLST: async (path) => {
        const place = this.#place(path)
        const isFolder = await this.#query(() => directory.hasFolder(place))
        const facts = factsOf(isFolder ? undefined : await this.#look(path))
        this.#connection.reply(250, 'Facts:', [`${facts} /${pathOf(place)}`])
      },
    }
  }

  #transfers(): Record<string, Run> {
    const store = (mode: OpenMode) => (path: string) => this.#receive(this.#place(path), mode)
    const facts: Line = (name, entry) => `${factsOf(entry.isFolder ? undefined : entry)} ${name}`
    return {
      STOR: store(STORE),
      APPE: store({ ...STORE, truncates: false }),
      STOU: () => this.#receive(this.#place(uuidv7(this.#deps.context.clock.now())), STORE),
      // Some clients put the options of `ls` in front of the folder.
      LIST: (path) => this.#send(path.replace(/^-\S+ ?/, ''), listingLine),
      NLST: (path) => this.#send(path.replace(/^-\S+ ?/, ''), (name) => name),
      MLSD: (path) => this.#send(path, facts),
      RETR: () => Promise.reject(unreadable()),
    }
  }

  #place(path: string): Place {
    return readPath(path.startsWith('/') ? path : `${pathOf(this.#folder)}/${path}`)
  }

  #query<Result>(work: () => Promise<Result>): Promise<Result> {
    return inTurn(this.#deps.turns, currentOwner(), work)
  }

  #look(path: string): Promise<Entry> {
    return this.#query(() => this.#session.directory.look(this.#place(path)))
  }

  async #receive(place: Place, mode: OpenMode): Promise<void> {
    this.#data.assertPrivate()
    const [startOffset, allocatedBytes] = [this.#restartOffset, this.#allocatedBytes]
    this.#restartOffset = 0
    this.#allocatedBytes = 0
    await this.#run(async (transfer) => {
      const file = await this.#query(() => openAt(this.#session.directory, place, { startOffset, mode }))
      transfer.file = file
      try {
        const socket = await this.#open(transfer, `FILE: ${place.name}`)
        for await (const chunk of socket as AsyncIterable<Buffer>) {
          this.#connection.noteActivity()
          await this.#session.stillAllowed()
          await file.write(file.endOffset, chunk)
        }
        const isWhole = allocatedBytes > 0 && file.endOffset >= allocatedBytes
        if (!isWhole && !(await this.#connection.isStillThere())) throw notNow('The connection was lost.')
        await file.close()
      } catch (error) {
        await file.cut(error)
        throw error
      }
      return 'The file is complete.'
    })
  }

  async #send(path: string, line: Line): Promise<void> {
    this.#data.assertPrivate()
    const place = this.#place(path)
    if (!(await this.#query(() => this.#session.directory.hasFolder(place)))) throw noSuchFile()
    await this.#run(async (transfer) => {
      const socket = await this.#open(transfer, 'The listing follows.')
      await pipeline(Readable.from(this.#lines(pathOf(place), line)), socket)
      return 'That is all.'
    })
  }

  async *#lines(folder: string, line: Line): AsyncGenerator<string> {
    const { directory } = this.#session
    const modifiedMs = this.#deps.context.clock.now()
    for (const name of await this.#query(() => directory.folders(folder)))
      yield `${line(name, { ...FOLDER, modifiedMs })}\r\n`
    for (let after = ''; ; ) {
      const entries = await this.#query(() => directory.files(folder, after, LISTED_AT_ONCE))
      for (const entry of entries) yield `${line(entry.name, { ...entry, isFolder: false })}\r\n`
      if (entries.length < LISTED_AT_ONCE) return
      after = entries.at(-1)!.name
    }
  }

  async #open(transfer: Transfer, text: string): Promise<Socket> {
    const socket = await this.#data.open(() => this.#connection.reply(150, text))
    socket.on('error', () => {})
    transfer.socket = socket
    if (transfer.error) socket.destroy()
    return socket
  }

  /** Runs a transfer, and replies with its outcome. */
  async #run(work: (transfer: Transfer) => Promise<string>): Promise<void> {
    const transfer: Transfer = {}
    this.#transfer = transfer
    try {
      this.#connection.reply(226, await work(transfer))
    } catch (error) {
      const isLost = (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE'
      const cause = transfer.error ?? (isLost ? notNow('The data connection was lost.') : error)
      const isCut = isLost || transfer.error !== undefined
      this.#connection.reply(isCut ? 426 : codeOf(cause), messageOf(cause))
    } finally {
      this.#transfer = undefined
      this.#data.release()
    }
  }
}

/** Opens a file to be written from an offset that the client has chosen, which has to be where the file ends. */
async function openAt(
  directory: Directory,
  place: Place,
  { startOffset, mode }: { startOffset: number; mode: OpenMode },
): Promise<OpenFile> {
  if (isRoot(place)) throw new SluiceError('conflict', 'A file needs a name.')
  if (startOffset === 0) return directory.open(place, mode)
  const file = await directory.open(place, { ...mode, creates: false, truncates: false })
  if (file.endOffset === startOffset) return file
  await file.cut()
  throw new SluiceError('conflict', `The file ends at byte ${file.endOffset}. Continue there.`)
}
