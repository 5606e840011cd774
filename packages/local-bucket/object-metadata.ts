import { createHash } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { S3Error } from './s3-error.ts'
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

const KEPT = new Set([
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-type',
  'expires',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-server-side-encryption-bucket-key-enabled',
  'x-amz-storage-class',
  'x-amz-tagging',
  'x-amz-website-redirect-location',
])

const STORAGE_CLASSES = new Set([
  ...['STANDARD', 'REDUCED_REDUNDANCY', 'STANDARD_IA', 'ONEZONE_IA', 'INTELLIGENT_TIERING'],
  ...['GLACIER', 'GLACIER_IR', 'DEEP_ARCHIVE'],
])
const MAX_METADATA_BYTES = 2048
const MAX_TAGS = 10

/** The headers stored with an object. Encryption is recorded but not applied, so that people can open the files. */
export function headersToKeep(headers: Record<string, string>): Record<string, string> {
  requireValid(headers)
  const kept = Object.entries(headers).filter(([name]) => KEPT.has(name) || name.startsWith('x-amz-meta-'))
  const encoding = withoutTransfer(headers['content-encoding'])
  const { 'content-encoding': _, ...others } = Object.fromEntries(kept)
  return {
    'content-type': 'binary/octet-stream',
    ...others,
    ...(encoding ? { 'content-encoding': encoding } : {}),
  }
}

function requireValid(headers: Record<string, string>): void {
  const storageClass = headers['x-amz-storage-class']
  if (storageClass !== undefined && !STORAGE_CLASSES.has(storageClass))
    throw new S3Error('InvalidStorageClass')
  const metadata = Object.entries(headers).filter(([name]) => name.startsWith('x-amz-meta-'))
  const bytes = metadata.reduce(
    (sum, [name, value]) => sum + name.length - 'x-amz-meta-'.length + value.length,
    0,
  )
  if (bytes > MAX_METADATA_BYTES) throw new S3Error('MetadataTooLarge')
  if (tagsOf(headers).length > MAX_TAGS) throw new S3Error('BadRequest')
}

export function tagsOf(headers: Record<string, string>): [name: string, value: string][] {
  return [...new URLSearchParams(headers['x-amz-tagging'] ?? '')]
}

/** The stored headers that a response to a write repeats. */
export function encryptionHeaders(kept: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(kept).filter(([name]) => name.startsWith('x-amz-server-side-encryption')),
  )
}

/** `aws-chunked` is the transfer format, not the object's encoding. */
function withoutTransfer(encoding: string | undefined): string | undefined {
  const codings = encoding?.split(',').map((coding) => coding.trim())
  return codings?.filter((coding) => coding && coding !== 'aws-chunked').join(', ')
}

/**
 * What GetObject and HeadObject return about an object. The checksum covers the entire object, so a range has none.
 */
export function objectHeaders(
  metadata: ObjectMetadata,
  options: { checksum: boolean },
): Record<string, string> {
  const { 'x-amz-tagging': tagging, ...headers } = metadata.headers
  return {
    ...headers,
    ...(tagging && { 'x-amz-tagging-count': String(tagsOf(metadata.headers).length) }),
    etag: metadata.etag,
    'last-modified': new Date(metadata.lastModifiedMs).toUTCString(),
    'accept-ranges': 'bytes',
    'content-length': String(metadata.size),
    ...(options.checksum && {
      'x-amz-checksum-crc32': metadata.checksum.value,
      'x-amz-checksum-type': metadata.checksum.type,
    }),
  }
}

export function wantsChecksum(headers: Record<string, string>): boolean {
  return headers['x-amz-checksum-mode']?.toUpperCase() === 'ENABLED'
}
