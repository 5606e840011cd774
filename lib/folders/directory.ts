import { typeOfName } from '../../packages/cli/src/type-of-name.ts'
import { SluiceError } from '../platform/kernel/errors.ts'
import { cancelUpload, takeBackUpload } from '../uploads/endings/end-upload.ts'
import { createUpload } from '../uploads/opening/create-upload.ts'
import { releaseUpload } from '../uploads/opening/open-for-bytes.ts'
import { noteOffsetRequest } from '../uploads/opening/report-offset.ts'
import type { UploadRight } from '../uploads/upload-context.ts'
import {
  addEntry,
  type Entry,
  findEntry,
  isFolder,
  listEntries,
  listFolders,
  moveEntry,
  noteOpening,
  type Opening,
  removeEntries,
  setModified,
} from './entries.ts'
import { type FileDeps, limitOfNew, OpenFile } from './open-file.ts'
import { describePlace, hasSameKey, isRoot, type Place, pathOf } from './paths.ts'
import type { SignedIn } from './sign-in.ts'

/** How a client opens a file. */
export type OpenMode = { creates: boolean; exclusive: boolean; truncates: boolean; appends: boolean }

/** How long an upload is kept if none of its bytes become durable. A client that disconnects may never return. */
const GRACE_MS = 3_600_000
const FOLDERS_MADE = 1000
const FOLDERS_LISTED = 1000

/**
 * The files uploaded by a Sender and subject in the last day, as a directory that can be written and listed, but whose
 * files cannot be read. Folders exist if they contain files. An empty folder only exists for the connection that
 * created it.
 */
export class Directory {
  readonly #deps: FileDeps
  readonly #signedIn: SignedIn
  readonly #opening: Opening
  readonly #made = new Set<string>()

  constructor(deps: FileDeps, signedIn: SignedIn, opening: Opening) {
    this.#deps = deps
    this.#signedIn = signedIn
    this.#opening = opening
  }

  async find(place: Place): Promise<Entry | undefined> {
    const { db, clock } = this.#deps.context
    return isRoot(place) ? undefined : findEntry(db, this.#signedIn, place, clock.now())
  }

  async get(place: Place): Promise<Entry> {
    const entry = await this.find(place)
    if (!entry) throw noSuchFile()
    return entry
  }

  /** Looks up a file with its exact offset. A client that is writing the file is asked to stop first. */
  async look(place: Place): Promise<Entry> {
    const entry = await this.get(place)
    if (entry.status !== 'uploading') return entry
    return { ...entry, sizeBytes: (await this.#confirmed(entry.fileId)).upload.offsetBytes }
  }

  async open(place: Place, mode: OpenMode): Promise<OpenFile> {
    if (isRoot(place)) throw isAFolder()
    const found = await this.find(place)
    if (!found && !mode.creates) throw noSuchFile()
    if (found && mode.creates && mode.exclusive) throw exists()
    if (!found || mode.truncates) return this.#create(place, found)
    if (found.status !== 'uploading')
      throw new SluiceError(
        'conflict',
        'This file is already complete. To replace it, upload it again from the start.',
      )
    return this.#resume(found, mode)
  }

  async remove(place: Place): Promise<void> {
    const entry = await this.get(place)
    await this.#cancel(entry)
    await removeEntries(this.#deps.context.db, this.#signedIn, place)
  }

  /**
   * An object's key cannot change, so a file can only be renamed from a temporary name, whose key was already built
   * from the final name.
   */
  async rename(from: Place, to: Place): Promise<void> {
    const { fileId } = await this.get(from)
    if (!hasSameKey(from, to))
      throw new SluiceError(
        'forbidden',
        'A file gets its key when it is created, so only temporary names can be changed: .filepart, .part and .partial. Write the file under its final name.',
      )
    await moveEntry(this.#deps.context.db, this.#signedIn, { fileId, to })
  }

  async touch(fileId: string, modifiedMs: number): Promise<void> {
    await setModified(this.#deps.context.db, fileId, modifiedMs)
  }

  async hasFolder(place: Place): Promise<boolean> {
    if (isRoot(place) || this.#made.has(pathOf(place))) return true
    const { db, clock } = this.#deps.context
    return isFolder(db, this.#signedIn, pathOf(place), clock.now())
  }

  /**
   * Succeeds for a folder that exists: a client with several connections may have looked for it before one of them put
   * a file into it.
   */
  async makeFolder(place: Place): Promise<void> {
    if (await this.find(place)) throw exists()
    if (await this.hasFolder(place)) return
    if (this.#made.size >= FOLDERS_MADE)
      throw new SluiceError('forbidden', `A connection can create at most ${FOLDERS_MADE} empty folders.`)
    this.#made.add(pathOf(place))
  }

  async removeFolder(place: Place): Promise<void> {
    const { db, clock } = this.#deps.context
    const folder = pathOf(place)
    if (isRoot(place) || (await isFolder(db, this.#signedIn, folder, clock.now())))
      throw new SluiceError('conflict', 'This folder contains files.')
    if (!this.#made.delete(folder)) throw noSuchFile()
  }

  async folders(folder: string): Promise<string[]> {
    const { db, clock } = this.#deps.context
    const found = await listFolders(db, this.#signedIn, { folder, limit: FOLDERS_LISTED }, clock.now())
    const prefix = folder === '' ? '' : `${folder}/`
    const made = [...this.#made].filter((path) => path.startsWith(prefix))
    const names = made.map((path) => path.slice(prefix.length).split('/')[0]!)
    return [...new Set([...found, ...names])]
  }

  files(folder: string, after: string, limit: number): Promise<Entry[]> {
    const { db, clock } = this.#deps.context
    return listEntries(db, this.#signedIn, { folder, after, limit }, clock.now())
  }

  async #create(place: Place, replaced: Entry | undefined): Promise<OpenFile> {
    const { context } = this.#deps
    const { token, pipeId } = this.#signedIn
    const right = await context.rights.toCreate(token, pipeId, this.#opening.protocol)
    const { filename, relativePath } = describePlace(place)
    const declared = {
      filename,
      relativePath,
      filetype: typeOfName(filename),
      lengthBytes: null,
      uploadMetadata: {},
      uploadMetadataHeader: null,
      concat: null,
      protocol: this.#opening.protocol,
      graceMs: GRACE_MS,
    }
    const created = await createUpload(context, right, declared, { bytes: undefined })
    const [fileId, upload] = [created.fileId, created.upload!]
    const listing = context.db.transaction(async (tx) => {
      // The replaced file may have become complete by now, in which case it stays listed.
      if (replaced) await this.#cancel(replaced, tx)
      const entry = { ...place, fileId, opening: this.#opening }
      await addEntry(tx, this.#signedIn, entry, context.clock.now())
    })
    await listing.catch(async (error: unknown) => {
      await takeBackUpload(context, upload, { tokenId: right.token.id, error })
      await releaseUpload(upload)
      throw error
    })
    const target = { fileId, offsetBytes: 0, signedIn: this.#signedIn, appends: false }
    return new OpenFile(this.#deps, target, { upload, limitBytes: limitOfNew(right, upload) })
  }

  async #resume({ fileId }: Entry, { appends }: OpenMode): Promise<OpenFile> {
    const { db, clock } = this.#deps.context
    const { offsetBytes } = (await this.#confirmed(fileId)).upload
    await noteOpening(db, fileId, this.#opening, clock.now())
    return new OpenFile(this.#deps, { fileId, offsetBytes, signedIn: this.#signedIn, appends })
  }

  async #confirmed(fileId: string): Promise<UploadRight> {
    const { context } = this.#deps
    const { token, pipeId } = this.#signedIn
    const look = () => context.rights.toContinue(token, { pipeId, fileId })
    let right = await look()
    if (right.upload.leased && right.upload.status === 'uploading') {
      await context.leases.waitUntilFree({ rowId: fileId, fence: right.upload.leaseFence })
      right = await look()
    }
    await noteOffsetRequest(context, right.upload)
    return right
  }

  /** Cancels an unfinished file. The object and the record of a complete file are kept, because they were delivered. */
  async #cancel({ fileId, workspaceId, status }: Entry, db = this.#deps.context.db): Promise<void> {
    if (status === 'uploading') await cancelUpload({ ...this.#deps.context, db }, { fileId, workspaceId })
  }
}

export const noSuchFile = () => new SluiceError('not_found', 'There is no such file.')
export const unreadable = () => new SluiceError('forbidden', 'Files can be written, but not read.')
const exists = () => new SluiceError('conflict', 'There is already a file or folder with this name.')
const isAFolder = () => new SluiceError('conflict', 'This is a folder.')
