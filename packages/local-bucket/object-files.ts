import { type FileHandle, link, mkdir, open, rename, rm, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Clock } from '../../lib/platform/kernel/clock.ts'
import { crc32ToBase64 } from '../../lib/platform/kernel/crc32.ts'
import { Meter } from './checksums.ts'
import { keyToPath, leadsOut, listKeys } from './key-path.ts'
import { KeyedLock } from './keyed-lock.ts'
import type { FileIdentity, MetadataFiles, ObjectMetadata } from './object-metadata.ts'
import { S3Error } from './s3-error.ts'
import type { StagedFile, Staging } from './staging.ts'

export type NewObject = Omit<ObjectMetadata, 'size' | 'mtimeNs' | 'lastModifiedMs'>

/** An object that is open for reading: its bytes match its metadata, even if the key is overwritten. */
export interface OpenObject {
  metadata: ObjectMetadata
  file: FileHandle
}

const MAX_ATTEMPTS = 5
const NOT_A_FILE = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'ENAMETOOLONG'])

/**
 * One bucket's objects, as plain files in its folder. An object appears completely, by a rename, or not at all. A
 * file added by something else also becomes an object, when it is first accessed.
 */
export class ObjectFiles {
  readonly #directory: string
  readonly #staging: Staging
  readonly #metadata: MetadataFiles
  readonly #clock: Clock
  readonly #locks = new KeyedLock()

  constructor(directory: string, staging: Staging, metadata: MetadataFiles, clock: Clock) {
    this.#directory = directory
    this.#staging = staging
    this.#metadata = metadata
    this.#clock = clock
  }

  async publish(staged: StagedFile, object: NewObject, options: { ifAbsent: boolean }): Promise<void> {
    const { size, mtimeNs } = staged
    try {
      await this.#locks.run(object.key, async () => {
        await this.#metadata.setNext({ ...object, size, mtimeNs, lastModifiedMs: this.#clock.now() })
        await this.#giveName(staged, object.key, options)
        await this.#metadata.makeCurrent(object.key)
      })
    } finally {
      await this.#staging.discard(staged)
    }
  }

  /** The caller must close the file. */
  async open(key: string): Promise<OpenObject | undefined> {
    for (let attempt = 1; ; attempt++) {
      const path = this.#path(key)
      const file = (await leadsOut(this.#directory, path)) ? undefined : await openFile(path)
      if (!file) return undefined
      let metadata: ObjectMetadata | undefined
      try {
        metadata = await this.#describe(key, file)
        if (metadata) return { metadata, file }
      } finally {
        if (!metadata) await file.close()
      }
      if (attempt === MAX_ATTEMPTS) throw new Error(`'${key}' changes faster than it can be opened`)
    }
  }

  async find(key: string): Promise<ObjectMetadata | undefined> {
    const found = await this.open(key)
    await found?.file.close()
    return found?.metadata
  }

  async remove(key: string): Promise<void> {
    await this.#locks.run(key, async () => {
      const path = this.#path(key)
      const ours = !(await leadsOut(this.#directory, path))
      if (ours && (await identify(path))) await rm(path, { force: true })
      await this.#metadata.remove(key)
    })
    await this.#removeEmptyFolders(dirname(this.#path(key)))
  }

  keys(options: { prefix: string; after: string }): AsyncGenerator<string> {
    return listKeys(this.#directory, options)
  }

  /** Throws if a file can never have this name, so that an upload is refused before its bytes are sent. */
  async requireRoom(key: string): Promise<void> {
    try {
      await this.#makeFolder(key)
      if ((await stat(this.#path(key)).catch(absent))?.isDirectory()) throw fileAndFolder(key)
    } catch (error) {
      throw obstructed(error, key)
    }
    await this.#removeEmptyFolders(dirname(this.#path(key)))
  }

  async #giveName(staged: StagedFile, key: string, { ifAbsent }: { ifAbsent: boolean }): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.#makeFolder(key)
        // A link never replaces an existing file; a rename always does.
        await (ifAbsent ? link : rename)(staged.path, this.#path(key))
        return
      } catch (error) {
        // The folder can disappear between the two steps, when its last object is deleted.
        if (codeOf(error) === 'ENOENT' && attempt < MAX_ATTEMPTS) continue
        await this.#metadata.dropNext(key)
        const isThere = codeOf(error) === 'EEXIST' && (await identify(this.#path(key)))
        throw isThere ? new S3Error('PreconditionFailed') : obstructed(error, key)
      }
    }
  }

  async #makeFolder(key: string): Promise<void> {
    const folder = dirname(this.#path(key))
    if (await leadsOut(this.#directory, folder)) throw new S3Error('AccessDenied')
    await mkdir(folder, { recursive: true })
  }

  async #removeEmptyFolders(folder: string): Promise<void> {
    for (let empty = folder; empty.length > this.#directory.length; empty = dirname(empty)) {
      const removed = await rmdir(empty).then(
        () => true,
        () => false,
      )
      if (!removed) return
    }
  }

  /** The record for this file. Undefined if the key has since been given to another file. */
  async #describe(key: string, file: FileHandle): Promise<ObjectMetadata | undefined> {
    const identity = await identify(file)
    if (!identity) return undefined
    const candidates = await this.#metadata.candidates(key)
    const known = candidates.find((metadata) => sameFile(metadata, identity))
    if (known) return known
    if (!sameFile(await identify(this.#path(key)), identity)) return undefined
    const metadata = await adopt(key, file, identity, candidates)
    return this.#locks.run(key, async () => {
      if (!sameFile(await identify(this.#path(key)), identity)) return undefined
      await this.#metadata.setNext(metadata)
      await this.#metadata.makeCurrent(key)
      return metadata
    })
  }

  #path(key: string): string {
    return join(this.#directory, keyToPath(key))
  }
}

/** Undefined if there is no file, or only a folder. */
async function openFile(path: string): Promise<FileHandle | undefined> {
  if (!(await identify(path))) return undefined
  return open(path, 'r').catch(absent)
}

async function identify(file: string | FileHandle): Promise<FileIdentity | undefined> {
  const found = await (typeof file === 'string'
    ? stat(file, { bigint: true })
    : file.stat({ bigint: true })
  ).catch(absent)
  return found?.isFile() ? { size: Number(found.size), mtimeNs: String(found.mtimeNs) } : undefined
}

function sameFile(a: FileIdentity | undefined, b: FileIdentity): boolean {
  return a?.size === b.size && a.mtimeNs === b.mtimeNs
}

/**
 * Creates the record for a file without one: either the file is a new object, or only its modification time has
 * changed, for example because the folder was copied.
 */
async function adopt(
  key: string,
  file: FileHandle,
  identity: FileIdentity,
  candidates: ObjectMetadata[],
): Promise<ObjectMetadata> {
  const meter = new Meter({ md5: true, sha256: false })
  for await (const _ of meter.pass(file.createReadStream({ start: 0, autoClose: false })));
  const { crc32, md5 } = meter.result()
  const same = candidates.find((metadata) => metadata.size === identity.size && metadata.crc32 === crc32)
  return {
    key,
    lastModifiedMs: Number(BigInt(identity.mtimeNs) / 1_000_000n),
    etag: `"${md5}"`,
    crc32,
    checksum: { value: crc32ToBase64(crc32), type: 'FULL_OBJECT' },
    headers: { 'content-type': 'binary/octet-stream' },
    ...same,
    ...identity,
  }
}

function absent(error: unknown): undefined {
  if (!NOT_A_FILE.has(codeOf(error))) throw error
}

function obstructed(error: unknown, key: string): unknown {
  if (codeOf(error) === 'ENAMETOOLONG') return new S3Error('KeyTooLongError')
  return ['ENOTDIR', 'EEXIST', 'EISDIR', 'ENOTEMPTY'].includes(codeOf(error)) ? fileAndFolder(key) : error
}

/**
 * S3 stores `a` and `a/b` side by side. A folder of plain files cannot, so the second one is refused instead of
 * replacing the first.
 */
function fileAndFolder(key: string): S3Error {
  return new S3Error(
    'InvalidArgument',
    `This bucket keeps objects as files: '${key}' would be a file where a folder of other keys is, or the reverse.`,
  )
}

const codeOf = (error: unknown): string => String((error as NodeJS.ErrnoException)?.code)
