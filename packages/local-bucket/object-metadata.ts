import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Staging } from './staging.ts'

/** What S3 stores about an object in addition to its bytes. */
export interface ObjectMetadata {
  key: string
  size: number
  /** The modification time of the file with the bytes. Together with the size, it identifies that file. */
  mtimeNs: string
  lastModifiedMs: number
  etag: string
  /** The CRC32 of the entire object. */
  crc32: number
  /** As reported to clients: the checksum of the entire object, or of its parts' checksums. */
  checksum: { value: string; type: ChecksumType }
  /** Content-Type and related headers, `x-amz-meta-`, storage class: stored and returned unchanged. */
  headers: Record<string, string>
}

export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE'
export type FileIdentity = Pick<ObjectMetadata, 'size' | 'mtimeNs'>

/**
 * One bucket's records. An object and its record cannot change in one step, so a new record is first stored next to
 * the old one (`next`), then the object gets its name, and then the record gets its own (`makeCurrent`). After a crash
 * in between, the record that describes the existing file is valid.
 */
export class MetadataFiles {
  readonly #directory: string
  readonly #staging: Staging

  constructor(directory: string, staging: Staging) {
    this.#directory = directory
    this.#staging = staging
  }

  async setNext(metadata: ObjectMetadata): Promise<void> {
    const staged = this.#staging.newPath()
    await writeFile(staged, JSON.stringify(metadata, null, 2))
    await rename(staged, this.#path(metadata.key, '.next.json'))
  }

  async makeCurrent(key: string): Promise<void> {
    await rename(this.#path(key, '.next.json'), this.#path(key, '.json'))
  }

  async dropNext(key: string): Promise<void> {
    await rm(this.#path(key, '.next.json'), { force: true })
  }

  /** At most two: the current record and the next one. */
  async candidates(key: string): Promise<ObjectMetadata[]> {
    const read = (suffix: string) => readJson<ObjectMetadata>(this.#path(key, suffix)).catch(unreadable)
    const found = await Promise.all([read('.json'), read('.next.json')])
    return found.filter((metadata) => metadata !== undefined)
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key, '.json'), { force: true })
    await this.dropNext(key)
  }

  /** A record is named after a digest of its key: a key can be too long for a file name, and can contain slashes. */
  #path(key: string, suffix: string): string {
    return join(this.#directory, createHash('sha256').update(key).digest('hex') + suffix)
  }
}

/** A record left incomplete by a power failure is ignored; the object can be described without it. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof SyntaxError)) throw error
}

/** Undefined if there is no such file. Any other error is thrown, because the file may exist. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
