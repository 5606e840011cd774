import type { BasePlugin, Body, Meta, Uppy, UppyFile } from '@uppy/core'
import { createBatches } from '../../react/src/batches.ts'
import { CONNECTIONS, PARALLEL } from '../../react/src/connections.ts'
import { fileIdOf, metadataOf, newId } from '../../react/src/entries.ts'
import { FileChecksum } from '../../react/src/file-checksum.ts'
import type { UploadOptions } from '../../react/src/file-upload.ts'
import { holdUpload } from '../../react/src/hold-upload.ts'
import { deleteUpload, sendFile } from '../../react/src/send-file.ts'
import { type Tokens, tokensFor } from '../../react/src/tokens.ts'

/**
 * An uploader plugin for Uppy that sends files as @sluice/react does, with the same code. Uppy lists the files, and
 * Golden Retriever keeps them across a reload.
 */
export type SluiceOptions = Pick<UploadOptions, 'tokenUrl' | 'getToken' | 'parallel' | 'connections'> & {
  id?: string
  /** The files' own fields to send as metadata; by default, none but the name, the type and the relative path. */
  allowedMetaFields?: readonly string[]
  /**
   * Names the batch of the files of one upload, such as `() => crypto.randomUUID()`. It is sealed once each of them has
   * been created or removed. Omit it if your tokens name the batch.
   */
  batch?(files: readonly { id: string; name?: string }[]): string
}

/** The body of a finished file's `response`. */
export type SluiceBody = {
  /** The webhook's `file_id`. */
  fileId: string
  /** The result that your backend returned for the file, if the Pipe has a `before_complete` hook. */
  result?: unknown
}

const DAYS_7_MS = 7 * 24 * 3_600_000
/**
 * Options for Golden Retriever: files of up to 1 GiB survive a reload, for as long as their uploads may be idle. By
 * default, it only keeps files of up to 10 MiB, for a day. Its types do not include all of these options.
 */
export const keepFiles: object = {
  expires: DAYS_7_MS,
  indexedDB: { maxFileSize: 1024 ** 3, maxTotalSize: 1024 ** 3 },
}

const WARNING_MS = 5000

type File<M extends Meta, B extends Body> = UppyFile<M, B> & { sluice?: Noted }
/**
 * Part of the file's state, so that Golden Retriever keeps it. `key`: the key of the upload's creation; `details`: what
 * its metadata said of the file.
 */
type Noted = { key?: string; details?: string; url?: string; batch?: string }
type Transfer = { checksum?: FileChecksum; stop?: () => void; end(): void }

/** Does not extend Uppy's base class, so that pages with Uppy's prebuilt bundle can use it too. */
class Sluice<M extends Meta, B extends Body> {
  readonly type = 'uploader'
  readonly id: string
  readonly #uppy: Uppy<M, B>
  readonly #options: SluiceOptions
  readonly #tokens: Tokens
  readonly #batches: ReturnType<typeof createBatches>
  /** The files of the current uploads, in the order in which they are sent. */
  readonly #transfers = new Map<string, Transfer>()

  constructor(uppy: Uppy<M, B>, options: SluiceOptions = {}) {
    this.id = options.id ?? 'Sluice'
    this.#uppy = uppy
    this.#options = options
    this.#tokens = tokensFor(options)
    this.#batches = createBatches({
      tokens: this.#tokens,
      kept: { hasUnbegun: async () => false },
      transport: {},
    })
  }

  install(): void {
    this.#setResumable(true)
    this.#uppy.addUploader(this.#upload)
    this.#uppy.on('upload-pause', this.#fill)
    this.#uppy.on('pause-all', this.#fill)
    this.#uppy.on('resume-all', this.#fill)
    this.#uppy.on('file-removed', this.#removed)
  }

  uninstall(): void {
    this.#setResumable(false)
    this.#uppy.removeUploader(this.#upload)
    this.#uppy.off('upload-pause', this.#fill)
    this.#uppy.off('pause-all', this.#fill)
    this.#uppy.off('resume-all', this.#fill)
    this.#uppy.off('file-removed', this.#removed)
    for (const id of [...this.#transfers.keys()]) this.#end(id)
  }

  /** Uppy calls these for its interface's plugins. */
  update(): void {}
  setOptions(): void {}

  #setResumable(resumableUploads: boolean): void {
    const { capabilities } = this.#uppy.getState()
    this.#uppy.setState({ capabilities: { ...capabilities, resumableUploads } })
  }

  readonly #upload = async (ids: string[]): Promise<void> => {
    const files = this.#uppy
      .getFilesByIds(ids)
      .filter(({ error, progress }) => !error && !progress.uploadComplete)
    // Restored files keep their progress.
    const begun = files.filter(({ isRestored, progress }) => !isRestored || !progress.uploadStarted)
    this.#uppy.emit('upload-start', begun)
    for (const { id } of files) this.#startOverIfEdited(this.#file(id)!)
    const unnamed = files.filter(
      ({ id }) => this.#file(id)!.sluice?.batch === undefined && !this.#file(id)!.sluice?.url,
    )
    const batch = unnamed.length > 0 ? this.#options.batch?.(unnamed) : undefined
    if (batch !== undefined) for (const { id } of unnamed) this.#note(id, { batch })
    await Promise.all(files.map(({ id }) => this.#send(id)))
  }

  /** Resolves when the file is sent, has failed or was removed. */
  #send(id: string): Promise<void> {
    this.#end(id)
    return new Promise((resolve) => {
      this.#transfers.set(id, { end: resolve })
      this.#fill()
    })
  }

  /** Stops the files that were paused, and begins others in their place. */
  readonly #fill = (): void => {
    for (const [id, transfer] of this.#transfers)
      if (this.#file(id)?.isPaused) {
        transfer.stop?.()
        transfer.stop = undefined
      }
    for (const [id, transfer] of this.#transfers) {
      if (this.#underWay() >= (this.#options.parallel ?? PARALLEL)) return
      const file = this.#file(id)
      if (file && !file.isPaused && !transfer.stop) this.#begin(file, transfer)
    }
  }

  #begin(file: File<M, B>, transfer: Transfer): void {
    const { id, data } = file
    if (file.isRemote || !(data instanceof Blob)) {
      this.#fail(file, 'Only files from this device can be uploaded to Sluice.')
      return
    }
    const { connections = CONNECTIONS } = this.#options
    const stopping = new AbortController()
    const hold = (url: string) => holdUpload(url, stopping.signal)
    let held = file.sluice?.url ? hold(file.sluice.url) : undefined
    transfer.checksum ??= new FileChecksum(data)
    const { key = newId() } = file.sluice ?? {}
    this.#note(id, { key })
    const stop = sendFile({
      file: data,
      checksum: transfer.checksum,
      key,
      metadata: this.#metadataOf(file),
      hold: held,
      url: file.sluice?.url,
      tokens: this.#tokens,
      transport: {},
      lines: { connections, share: () => Math.max(1, Math.floor(connections / this.#underWay())) },
      onUrl: (url) => {
        held ??= hold(url)
        this.#noteUrl(id, url)
      },
      onLateUrl: (url) => {
        // The file was stopped during its creation. It continues at that address, which a repeated creation also
        // returns, unless it was removed.
        const { sluice } = this.#file(id) ?? {}
        if (sluice?.key !== key) void deleteUpload(url, this.#tokens, {})
        else if (!sluice.url) this.#noteUrl(id, url)
      },
      onProgress: (bytesUploaded) => this.#tellProgress(id, bytesUploaded),
      onWait: ({ reason }) => this.#uppy.info(reason, 'warning', WARNING_MS),
      onDone: (result) => void this.#finish(id, result),
      onFail: ({ reason }) => this.#fail(this.#file(id)!, reason),
    })
    transfer.stop = () => {
      stop()
      stopping.abort()
      void held?.then((release) => release?.())
    }
  }

  /** A file whose details were edited, perhaps because it was rejected for them, gets a new upload. */
  #startOverIfEdited(file: File<M, B>): void {
    const { id, sluice = {} } = file
    const details = JSON.stringify(this.#metadataOf({ ...file, sluice: {} }))
    const isEdited = sluice.details !== undefined && sluice.details !== details
    if (isEdited && sluice.url) void deleteUpload(sluice.url, this.#tokens, {})
    const noted = isEdited ? {} : sluice
    this.#uppy.setFileState(id, { sluice: { ...noted, details } } as Partial<UppyFile<M, B>>)
  }

  #metadataOf({ type = '', name = '', meta, sluice }: File<M, B>): Record<string, string> {
    const { allowedMetaFields = [] } = this.#options
    const own = allowedMetaFields.filter((field) => meta[field] !== undefined && meta[field] !== null)
    const path = typeof meta.relativePath === 'string' ? meta.relativePath : undefined
    return {
      ...Object.fromEntries(own.map((field) => [field, String(meta[field])])),
      ...metadataOf({ name: meta.name || name, type, path, batch: sluice?.batch }),
    }
  }

  #tellProgress(id: string, bytesUploaded: number): void {
    const file = this.#uppy.getFile(id)
    const uploadStarted = file.progress.uploadStarted ?? Date.now()
    this.#uppy.emit('upload-progress', file, { uploadStarted, bytesUploaded, bytesTotal: file.size })
  }

  async #finish(id: string, result: unknown): Promise<void> {
    const { url = '', batch } = this.#file(id)?.sluice ?? {}
    // A page that is opened again can then still seal the batch.
    await this.#batches.sealed(batch)
    const body: SluiceBody = { fileId: fileIdOf(url)!, ...(result !== undefined && { result }) }
    const file = this.#uppy.getFile(id)
    if (file)
      this.#uppy.emit('upload-success', file, { status: 200, uploadURL: url, body: body as Body as B })
    this.#end(id)
  }

  #fail(file: File<M, B>, reason: string): void {
    this.#uppy.emit('upload-error', file, new Error(reason))
    this.#end(file.id)
  }

  /** Ends a file's transfer, whatever became of it. */
  #end(id: string): void {
    const transfer = this.#transfers.get(id)
    if (!transfer) return
    this.#transfers.delete(id)
    transfer.stop?.()
    transfer.end()
    this.#fill()
  }

  readonly #removed = (file: File<M, B>): void => {
    this.#end(file.id)
    const { url, batch } = file.sluice ?? {}
    if (url && !file.progress.uploadComplete) void deleteUpload(url, this.#tokens, {})
    this.#look(batch)
  }

  #noteUrl(id: string, url: string): void {
    this.#note(id, { url })
    this.#look(this.#file(id)?.sluice?.batch)
  }

  #look(batch: string | undefined): void {
    const files: File<M, B>[] = this.#uppy.getFiles()
    this.#batches.look(
      batch,
      files.map(({ sluice }) => ({ upload: { batch: sluice?.batch }, url: sluice?.url })),
    )
  }

  #file(id: string): File<M, B> | undefined {
    return this.#uppy.getFile(id)
  }

  #note(id: string, noted: Noted): void {
    this.#uppy.setFileState(id, { sluice: { ...this.#file(id)?.sluice, ...noted } } as Partial<
      UppyFile<M, B>
    >)
  }

  #underWay(): number {
    return [...this.#transfers.values()].filter(({ stop }) => stop).length
  }
}

type SluicePlugin = new <M extends Meta, B extends Body>(
  uppy: Uppy<M, B>,
  options?: SluiceOptions,
) => BasePlugin<SluiceOptions, M, B>
export default Sluice as unknown as SluicePlugin
