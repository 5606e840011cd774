import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, days } from '../../lib/platform/kernel/clock.ts'
import type { Measured } from './checksums.ts'
import { KeyedLock } from './keyed-lock.ts'
import { type ChecksumType, readJson } from './object-metadata.ts'
import { S3Error } from './s3-error.ts'
import type { StagedFile, Staging } from './staging.ts'

/** A multipart upload's initial settings. */
export interface Upload {
  id: string
  key: string
  initiatedMs: number
  headers: Record<string, string>
  /** Undefined if the client named no checksum algorithm. */
  checksumType: ChecksumType | undefined
}

/** The response to Complete, kept for a while, because a client that lost the response repeats the request. */
export interface Completion {
  key: string
  etag: string
  checksum: { value: string; type: ChecksumType }
  completedMs: number
}

const REMEMBER_MS = days(1)

/**
 * One bucket's multipart uploads: a folder each, with a file for each part. Folders are created, turned into
 * remembered completions and removed, each by a single rename, so after a crash an upload is open, completed or gone.
 */
export class UploadFiles {
  readonly #open: string
  readonly #completed: string
  readonly #staging: Staging
  readonly #clock: Clock
  readonly #locks = new KeyedLock()
  /** Remembered completions, oldest first. */
  readonly #remembered: { id: string; completedMs: number }[] = []

  private constructor(directory: string, staging: Staging, clock: Clock) {
    this.#open = join(directory, 'open')
    this.#completed = join(directory, 'completed')
    this.#staging = staging
    this.#clock = clock
  }

  static async open(directory: string, staging: Staging, clock: Clock): Promise<UploadFiles> {
    const files = new UploadFiles(directory, staging, clock)
    await mkdir(files.#open, { recursive: true })
    await mkdir(files.#completed, { recursive: true })
    await files.#recall()
    return files
  }

  async create(upload: Omit<Upload, 'id' | 'initiatedMs'>): Promise<Upload> {
    const created = { ...upload, id: randomBytes(32).toString('base64url'), initiatedMs: this.#clock.now() }
    const staged = this.#staging.newPath()
    await mkdir(staged)
    await writeFile(join(staged, 'upload.json'), JSON.stringify(created), { flush: this.#staging.durable })
    await rename(staged, this.#folder(created.id))
    return created
  }

  async find(id: string, key: string): Promise<Upload> {
    const upload = await readJson<Upload>(join(this.#folder(id), 'upload.json'))
    if (upload?.key !== key) throw new S3Error('NoSuchUpload')
    return upload
  }

  /** The newer of two parts with the same number wins; a crash can leave the older one next to it. */
  async addPart(id: string, number: number, staged: StagedFile, measured: Measured): Promise<void> {
    await this.#locks.run(id, async () => {
      const name = partFileName(number, measured)
      try {
        await rename(staged.path, join(this.#folder(id), name)).catch(goneMeanwhile)
      } finally {
        await this.#staging.discard(staged)
      }
      const older = (await readdir(this.#folder(id))).filter(
        (file) => file !== name && readPartFileName(file)?.number === number,
      )
      for (const file of older) await rm(join(this.#folder(id), file), { force: true })
    })
  }

  /** Sorted by part number. */
  async parts(id: string): Promise<StoredPart[]> {
    const byNumber = new Map<number, StoredPart>()
    for (const name of await readdir(this.#folder(id))) {
      const read = readPartFileName(name)
      if (!read) continue
      const path = join(this.#folder(id), name)
      const part = { ...read, path, lastModifiedMs: (await stat(path)).mtimeMs }
      const other = byNumber.get(part.number)
      if (!other || other.lastModifiedMs <= part.lastModifiedMs) byNumber.set(part.number, part)
    }
    return [...byNumber.values()].sort((a, b) => a.number - b.number)
  }

  /** Runs `work` while nothing else changes this upload. */
  async exclusively<T>(id: string, work: () => Promise<T>): Promise<T> {
    return this.#locks.run(id, work)
  }

  /** Written before the object is published, and only valid once the folder has moved: see `close`. */
  async prepareCompletion(id: string, completion: Omit<Completion, 'completedMs'>): Promise<void> {
    const json = JSON.stringify({ ...completion, completedMs: this.#clock.now() })
    await writeFile(join(this.#folder(id), 'completion.json'), json, { flush: this.#staging.durable })
  }

  async close(id: string): Promise<void> {
    const folder = join(this.#completed, id)
    await rename(this.#folder(id), folder)
    await this.#removeParts(folder)
    this.#remembered.push({ id, completedMs: this.#clock.now() })
    await this.#forgetOld()
  }

  async completion(id: string, key: string): Promise<Completion | undefined> {
    if (!isUploadId(id)) return undefined
    const completion = await readJson<Completion>(join(this.#completed, id, 'completion.json'))
    return completion?.key === key ? completion : undefined
  }

  async abort(id: string): Promise<void> {
    await this.#locks.run(id, async () => {
      const doomed = this.#staging.newPath()
      await rename(this.#folder(id), doomed).catch(goneMeanwhile)
      await rm(doomed, { recursive: true, force: true })
    })
  }

  async list(): Promise<Upload[]> {
    const uploads: Upload[] = []
    for (const id of await readdir(this.#open)) {
      const upload = await readJson<Upload>(join(this.#folder(id), 'upload.json'))
      if (upload) uploads.push(upload)
    }
    return uploads
  }

  async #removeParts(folder: string): Promise<void> {
    for (const name of await readdir(folder)) {
      if (readPartFileName(name)) await rm(join(folder, name), { force: true })
    }
  }

  /** At startup, reads the remembered completions, and removes parts that a crash left next to them. */
  async #recall(): Promise<void> {
    for (const id of await readdir(this.#completed)) {
      const folder = join(this.#completed, id)
      await this.#removeParts(folder)
      const completion = await readJson<Completion>(join(folder, 'completion.json'))
      this.#remembered.push({ id, completedMs: completion?.completedMs ?? 0 })
    }
    this.#remembered.sort((a, b) => a.completedMs - b.completedMs)
    await this.#forgetOld()
  }

  async #forgetOld(): Promise<void> {
    const oldestMs = this.#clock.now() - REMEMBER_MS
    while (this.#remembered[0] && this.#remembered[0].completedMs < oldestMs) {
      await rm(join(this.#completed, this.#remembered.shift()!.id), { recursive: true, force: true })
    }
  }

  #folder(id: string): string {
    if (!isUploadId(id)) throw new S3Error('NoSuchUpload')
    return join(this.#open, id)
  }
}

/** The format of the ids that this bucket generates; anything else could be a path. */
const isUploadId = (id: string): boolean => /^[\w-]{43}$/.test(id)

function goneMeanwhile(error: unknown): never {
  throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new S3Error('NoSuchUpload') : error
}

/** A part of an open upload. */
export interface StoredPart extends Measured {
  number: number
  path: string
  lastModifiedMs: number
}

/** The name contains everything about a part, so storing one is a single rename. */
export function partFileName(number: number, { size, crc32, md5 }: Measured): string {
  return `part-${String(number).padStart(5, '0')}-${size}-${crc32.toString(16).padStart(8, '0')}-${md5}`
}

export function readPartFileName(name: string): (Measured & { number: number }) | undefined {
  const fields = /^part-(\d{5})-(\d+)-([0-9a-f]{8})-([0-9a-f]{32})$/.exec(name)
  if (!fields) return undefined
  return {
    number: Number(fields[1]),
    size: Number(fields[2]),
    crc32: Number.parseInt(fields[3]!, 16),
    md5: fields[4]!,
  }
}
