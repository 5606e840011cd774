import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Staging } from './staging.ts'

/** What S3 keeps about an object beside its bytes. */
export interface ObjectMetadata {
  key: string
  size: number
  /** Of the file with the bytes: with the size, what ties this record to that file. */
  mtimeNs: string
  lastModifiedMs: number
  etag: string
  /** Of the whole object. */
  crc32: number
  /** As it is shown: of the whole, or of the checksums of the parts. */
  checksum: { value: string; type: ChecksumType }
  /** Content-Type and its kin, `x-amz-meta-`, storage class: as they were given, and as they are given back. */
  headers: Record<string, string>
}

export type ChecksumType = 'FULL_OBJECT' | 'COMPOSITE'
export type FileIdentity = Pick<ObjectMetadata, 'size' | 'mtimeNs'>

/**
 * The records of one bucket. An object and its record cannot change in one step, so a new record is first set
 * beside the old one (`next`), then the object takes its name, then the record takes its own (`makeCurrent`). After a
 * crash in between, the one that describes the file that is there is the true one.
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

  /** By digest: a record never meets a folder of its own name, and a key of any length fits. */
  #path(key: string, suffix: string): string {
    return join(this.#directory, createHash('sha256').update(key).digest('hex') + suffix)
  }
}

/** A record that a power cut left torn is no record; the object can be described without. */
function unreadable(error: unknown): undefined {
  if (!(error instanceof SyntaxError)) throw error
}

/** Undefined if there is no such file. Every other trouble is thrown: it does not mean that nothing is there. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
