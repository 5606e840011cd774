import type { Attributes, FileEntry, SFTPWrapper } from 'ssh2'
import ssh2 from 'ssh2'
import { noSuchFile, unreadable } from '../folders/directory.ts'
import type { OpenFile } from '../folders/open-file.ts'
import { type Place, pathOf, readPath } from '../folders/paths.ts'
import type { Session } from '../folders/session.ts'
import { isSluiceError, SluiceError } from '../platform/kernel/errors.ts'
import type { Logger } from '../platform/log/log.ts'
import { currentOwner, inTurn, type Turns } from '../platform/turns.ts'
import type { UploadContext } from '../uploads/upload-context.ts'
import { attributesOfFile, attributesOfFolder, listed } from './attributes.ts'
import type { Connection } from './connection.ts'
import { closing, noSuchHandle, statusOf, tooManyHandles } from './faults.ts'

const { STATUS_CODE, OPEN_MODE } = ssh2.utils.sftp

type Deps = {
  connection: Connection
  session: Session
  context: Pick<UploadContext, 'clock'>
  turns: Turns
  log: Logger
}

/** Only the bytes of an open file never wait. Any other request may query the database, and takes its turn. */
type Start = 'in turn' | 'at once'

type FileHandle = { kind: 'file'; path: string; file: OpenFile }
/** `after` is the last name of the previous page of the listing; null at its end. */
type FolderHandle = { kind: 'folder'; folder: string; after: string | null; hasBegun: boolean }
type Handle = FileHandle | FolderHandle

/** The number of names that fit into a packet that every client accepts, however long the names are. */
const LISTED_AT_ONCE = 50
/** How many responses a client may leave unread before it is considered broken or hostile. */
const UNREAD_ANSWERS = 1024

/** Handles one channel's requests, in SFTP version 3. Some of its requests, such as those for links, are refused. */
export class Channel {
  readonly #sftp: SFTPWrapper
  readonly #deps: Deps
  readonly #handles = new Map<number, Handle>()
  readonly #closed = Promise.withResolvers<void>()
  #nextHandle = 0
  /** True once nothing may be opened any more. Requests in progress are still answered until the channel is over. */
  #isClosing = false
  #isOver = false

  constructor(sftp: SFTPWrapper, deps: Deps) {
    this.#sftp = sftp
    this.#deps = deps
    sftp.on('error', (err: unknown) => {
      deps.log.debug({ err }, 'sftp: a malformed request')
      deps.connection.refuse('malformed')
    })
    // A client that has no more requests waits for its channel to be closed.
    sftp.on('end', () => void this.cut().then(() => sftp.end()))
    sftp.on('close', () => void this.cut())
    this.#serveFiles()
    this.#serveHandles()
    this.#serveFolders()
  }

  /** Resolves when the client can send no more requests, and its bytes are stored. */
  get closed(): Promise<void> {
    return this.#closed.promise
  }

  /** Stores the bytes received for open files, without completing the files. */
  async cut(error?: unknown): Promise<void> {
    this.#isClosing = true
    const open = [...this.#handles.keys()].map((id) => this.#forget(id))
    await Promise.all(open.map((handle) => handle.kind === 'file' && handle.file.cut(error)))
    if (error) return
    this.#isOver = true
    this.#closed.resolve()
  }

  #serveFiles(): void {
    const { directory } = this.#deps.session
    const sftp = this.#sftp
    sftp.on('OPEN', (id, path, flags) => this.#answer(id, () => this.#open(id, readPath(path), flags)))
    for (const event of ['STAT', 'LSTAT'] as const)
      sftp.on(event, (id: number, path: string) =>
        this.#answer(id, async () => sftp.attrs(id, await this.#look(readPath(path)))),
      )
    sftp.on('SETSTAT', (id, path, attrs) =>
      this.#do(id, async () => {
        const place = readPath(path)
        const entry = await directory.find(place)
        if (entry) return this.#change(entry.fileId, entry.sizeBytes, attrs)
        if (!(await directory.hasFolder(place))) throw noSuchFile()
      }),
    )
    sftp.on('REMOVE', (id, path) => this.#do(id, () => directory.remove(readPath(path))))
    sftp.on('RENAME', (id, from, to) => this.#do(id, () => directory.rename(readPath(from), readPath(to))))
  }

  #serveHandles(): void {
    const sftp = this.#sftp
    sftp.on('WRITE', (id, handle, offset, data) =>
      this.#do(id, () => this.#write(this.#fileOf(handle), offset, data), 'at once'),
    )
    sftp.on('READ', (id) => this.#do(id, () => Promise.reject(unreadable())))
    sftp.on('FSTAT', (id, handle) =>
      this.#answer(id, async () => sftp.attrs(id, this.#attributesOf(this.#fileOf(handle)))),
    )
    sftp.on('FSETSTAT', (id, handle, attrs) =>
      this.#do(id, () => {
        const { fileId, endOffset } = this.#fileOf(handle)
        return this.#change(fileId, endOffset, attrs)
      }),
    )
    sftp.on('CLOSE', (id, handle) =>
      this.#do(
        id,
        async () => {
          const closed = this.#forget(numberOf(handle))
          if (closed.kind === 'file') await closed.file.close()
        },
        'at once',
      ),
    )
  }

  #serveFolders(): void {
    const { directory } = this.#deps.session
    const sftp = this.#sftp
    sftp.on('REALPATH', (id, path) =>
      this.#answer(id, async () => {
        const filename = `/${pathOf(readPath(path))}`
        sftp.name(id, [{ filename, longname: filename, attrs: {} as Attributes }])
      }),
    )
    sftp.on('OPENDIR', (id, path) =>
      this.#answer(id, async () => {
        const place = readPath(path)
        if (!(await directory.hasFolder(place))) throw noSuchFile()
        const handle = { kind: 'folder', folder: pathOf(place), after: '', hasBegun: false } as const
        sftp.handle(id, this.#keep(handle))
      }),
    )
    sftp.on('READDIR', (id, handle) =>
      this.#answer(id, async () => {
        const found = this.#handles.get(numberOf(handle))
        if (found?.kind !== 'folder') throw noSuchHandle()
        const names = await this.#list(found)
        if (names.length > 0) sftp.name(id, names)
        else sftp.status(id, STATUS_CODE.EOF)
      }),
    )
    sftp.on('MKDIR', (id, path) => this.#do(id, () => directory.makeFolder(readPath(path))))
    sftp.on('RMDIR', (id, path) => this.#do(id, () => directory.removeFolder(readPath(path))))
  }

  async #open(id: number, place: Place, flags: number): Promise<void> {
    const has = (flag: number) => (flags & flag) !== 0
    if (!has(OPEN_MODE.WRITE) && !has(OPEN_MODE.APPEND)) throw unreadable()
    if (!this.#deps.connection.takeHandle()) throw tooManyHandles()
    try {
      const file = await this.#deps.session.directory.open(place, {
        creates: has(OPEN_MODE.CREAT),
        exclusive: has(OPEN_MODE.EXCL),
        truncates: has(OPEN_MODE.TRUNC),
        appends: has(OPEN_MODE.APPEND),
      })
      if (this.#isClosing) {
        await file.cut()
        throw closing()
      }
      const number = this.#add({ kind: 'file', path: pathOf(place), file })
      this.#sftp.handle(id, number)
    } catch (error) {
      this.#deps.connection.leaveHandle()
      throw error
    }
  }

  async #write(file: OpenFile, offset: number, data: Buffer): Promise<void> {
    const { connection } = this.#deps
    const written = file.write(offset, data)
    if (file.isBehind) connection.hold(file)
    try {
      await written
    } finally {
      if (!file.isBehind) connection.release(file)
    }
  }

  async #look(place: Place): Promise<Attributes> {
    const { context, session } = this.#deps
    const { directory } = session
    const path = pathOf(place)
    for (const handle of this.#handles.values())
      if (handle.kind === 'file' && handle.path === path) return this.#attributesOf(handle.file)
    if (await directory.find(place)) return attributesOfFile(await directory.look(place))
    if (await directory.hasFolder(place)) return attributesOfFolder(context.clock.now())
    throw noSuchFile()
  }

  #attributesOf({ endOffset }: OpenFile): Attributes {
    return attributesOfFile({ sizeBytes: endOffset, modifiedMs: this.#deps.context.clock.now() })
  }

  /**
   * Clients set times and permissions on their uploads. The time is stored, permissions are ignored, and a size
   * cannot be set.
   */
  async #change(fileId: string, sizeBytes: number, { size, mtime }: Partial<Attributes>): Promise<void> {
    if (size !== undefined && size !== sizeBytes)
      throw new SluiceError('forbidden', "A file's size is determined by its bytes and cannot be set.")
    if (mtime !== undefined) await this.#deps.session.directory.touch(fileId, mtime * 1000)
  }

  async #list(handle: FolderHandle): Promise<FileEntry[]> {
    const { context, session } = this.#deps
    const { directory } = session
    const { folder, after } = handle
    if (after === null) return []
    const entries = await directory.files(folder, after, LISTED_AT_ONCE)
    handle.after = entries.length < LISTED_AT_ONCE ? null : entries.at(-1)!.name
    const files = entries.map((entry) => listed(entry.name, attributesOfFile(entry)))
    if (handle.hasBegun) return files
    handle.hasBegun = true
    const inside = attributesOfFolder(context.clock.now())
    const folders = ['.', '..', ...(await directory.folders(folder))].map((name) => listed(name, inside))
    return [...folders, ...files]
  }

  #keep(handle: Handle): Buffer {
    if (this.#isClosing) throw closing()
    if (!this.#deps.connection.takeHandle()) throw tooManyHandles()
    return this.#add(handle)
  }

  #add(handle: Handle): Buffer {
    const number = this.#nextHandle++ >>> 0
    this.#handles.set(number, handle)
    const name = Buffer.alloc(4)
    name.writeUInt32BE(number)
    return name
  }

  #forget(number: number): Handle {
    const handle = this.#handles.get(number)
    if (!handle) throw noSuchHandle()
    this.#handles.delete(number)
    this.#deps.connection.leaveHandle()
    return handle
  }

  #fileOf(name: Buffer): OpenFile {
    const handle = this.#handles.get(numberOf(name))
    if (handle?.kind !== 'file') throw noSuchHandle()
    return handle.file
  }

  /** Runs a request whose response only reports success. */
  #do(id: number, work: () => Promise<void>, start: Start = 'in turn'): void {
    const done = async () => {
      await work()
      this.#deps.connection.gatherAnswers()
      this.#sftp.status(id, STATUS_CODE.OK)
    }
    this.#answer(id, done, start)
  }

  /** Starts requests in the order of their arrival. */
  #answer(id: number, work: () => Promise<void>, start: Start = 'in turn'): void {
    const { connection, session, turns } = this.#deps
    const run = async () => {
      const check = session.stillAllowed()
      if (check) await check
      if (!this.#isOver) await work()
    }
    connection.answering(async () => {
      try {
        await (start === 'in turn' ? inTurn(turns, currentOwner(), run) : run())
      } catch (error) {
        this.#refuse(id, error)
      }
      if (unreadAnswers(this.#sftp) > UNREAD_ANSWERS) connection.refuse('unread_answers')
    })
  }

  #refuse(id: number, error: unknown): void {
    if (this.#isOver) return
    if (!isSluiceError(error)) this.#deps.log.error({ err: error }, 'sftp: a request failed')
    const known = isSluiceError(error) ? error : new SluiceError('internal', 'An unexpected error occurred.')
    this.#sftp.status(id, statusOf(known), known.message)
  }
}

/**
 * Responses pile up if the client does not open its window. ssh2 has no public way to tell, so this reads a private
 * field.
 */
const unreadAnswers = (sftp: SFTPWrapper): number =>
  (sftp as unknown as { _buffer: readonly unknown[] })._buffer.length

const numberOf = (name: Buffer): number => (name.length === 4 ? name.readUInt32BE() : -1)
