import { randomUUID } from 'node:crypto'
import type { FileObject, ObjectStorage } from '#drizzle/schema/index.ts'
import { BucketError, badResponse, isBucketError } from '../bucket-error.ts'
import {
  type Body,
  type BucketPlace,
  type ListedPage,
  type NamedPart,
  type Options,
  storageOf,
  type Target,
  type Upload,
} from '../bucket-place.ts'
import type { CallBucket } from '../call-bucket.ts'
import { findExisting } from '../find-existing.ts'
import type { Capabilities } from '../providers.ts'
import { blobHeaders } from './blob-headers.ts'
import { crc64 } from './crc64.ts'
import { listPage } from './list-page.ts'

/** Put Block List may take minutes for a large blob. */
const COMMIT_SILENCE_MS = 600_000

/**
 * A container of Azure Blob Storage, as block blobs. A SAS with the permissions create and write is enough for uploads.
 * The blocks of a blob have no id of their own to group them, so each attempt to store one makes up an id, and each
 * block's id consists of that and its part number: the same part sent again is the same block, and the blocks of
 * another attempt are others. A blob's settings are sent when its blocks become the blob.
 */
export class AzureBucket {
  readonly #place: BucketPlace
  readonly #call: CallBucket
  readonly capabilities: Capabilities

  constructor(place: BucketPlace, capabilities: Capabilities, call: CallBucket) {
    this.#place = place
    this.capabilities = capabilities
    this.#call = call
  }

  forCopies(): AzureBucket {
    return this
  }

  assuming(capabilities: Capabilities): AzureBucket {
    return new AzureBucket(this.#place, capabilities, this.#call)
  }

  storageOf(object: FileObject | null): ObjectStorage | null {
    return storageOf(this.#place, object)
  }

  async putObject(
    target: Target,
    { chunks, bytes }: Body,
    { signal }: Options = {},
  ): Promise<{ etag: string | null; isFound?: boolean }> {
    const { key } = target
    const headers = {
      ...blobHeaders(this.#place, target),
      'x-ms-blob-type': 'BlockBlob',
      'x-ms-content-crc64': crc64(chunks, bytes),
      'if-none-match': '*',
    }
    try {
      const request = {
        operation: 'PutBlob',
        method: 'PUT',
        key,
        headers,
        body: chunks,
        bytes,
        signal,
      } as const
      return { etag: etagOf(await this.#call(request), 'PutBlob') }
    } catch (error) {
      if (!isBucketError(error) || error.kind !== 'exists') throw error
      if (!this.#place.mayRead) return { etag: null }
      return findExisting(() => this.headObject(key, { signal }), { key, bytes }, error)
    }
  }

  /** Nothing is sent: Azure learns of the blob from its first block. */
  async createMultipart(_target: Target, _options: Options = {}): Promise<string> {
    return randomUUID()
  }

  /** The block's id takes the place of an ETag: Put Block List names blocks by it. */
  async uploadPart(
    { key, multipartId, number }: Upload & { number: number },
    { chunks, bytes }: Body,
    { signal }: Options = {},
  ): Promise<{ etag: string }> {
    const blockid = blockIdOf(multipartId, number)
    await this.#call({
      operation: 'PutBlock',
      method: 'PUT',
      key,
      part: number,
      query: { comp: 'block', blockid },
      headers: { 'x-ms-content-crc64': crc64(chunks, bytes) },
      body: chunks,
      bytes,
      signal,
    })
    return { etag: blockid }
  }

  /** Makes the blob of exactly these blocks, and discards all others. */
  async completeMultipart(
    target: Target & { multipartId: string },
    { parts }: { parts: readonly NamedPart[] },
    { signal }: Options = {},
  ): Promise<{ etag: string | null; storage: ObjectStorage | null }> {
    const blocks = parts.map(({ etag }) => `<Uncommitted>${etag}</Uncommitted>`)
    const xml = Buffer.from(`<?xml version="1.0" encoding="utf-8"?><BlockList>${blocks.join('')}</BlockList>`)
    const response = await this.#call({
      operation: 'PutBlockList',
      method: 'PUT',
      key: target.key,
      query: { comp: 'blocklist' },
      headers: {
        ...blobHeaders(this.#place, target),
        'content-type': 'application/xml',
        'x-ms-content-crc64': crc64([xml], xml.length),
        'if-none-match': '*',
      },
      body: [xml],
      bytes: xml.length,
      silenceMs: COMMIT_SILENCE_MS,
      signal,
    })
    return { etag: etagOf(response, 'PutBlockList'), storage: this.storageOf(target.object ?? null) }
  }

  /** Azure discards blocks that no blob uses by itself, and has no request for it. */
  async abortMultipart(_upload: Upload, _options: Options = {}): Promise<void> {}

  /** Undefined if there is no blob, or only blocks. */
  async headObject(key: string, { signal }: Options = {}) {
    const operation = 'GetBlobProperties'
    try {
      const response = await this.#call({ operation, method: 'HEAD', key, signal })
      return { bytes: Number(response.headers['content-length']), etag: etagOf(response, operation) }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  }

  listPage(prefix: string, from: string | null, { signal }: Options = {}): Promise<ListedPage> {
    return listPage(this.#call, { prefix, from, signal })
  }

  async readRange(key: string, first: number, bytes: number, { signal }: Options = {}): Promise<Buffer> {
    const headers = { range: `bytes=${first}-${first + bytes - 1}` }
    const request = { operation: 'GetBlob', method: 'GET', key, headers, signal, wantedBytes: bytes } as const
    const { body } = await this.#call(request)
    if (body.length !== bytes) throw new BucketError('impossible', 'ShortRead', `${key} has changed.`)
    return body
  }

  /** `copyParts` says so before anyone needs it. */
  async copyPart(): Promise<never> {
    throw new BucketError('impossible', 'NotImplemented', 'Sluice does not copy blocks from other blobs.')
  }

  async deleteObject(key: string, { signal }: Options = {}): Promise<void> {
    const headers = { 'x-ms-delete-snapshots': 'include' }
    try {
      await this.#call({ operation: 'DeleteBlob', method: 'DELETE', key, headers, signal })
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
}

/** All ids of a blob's blocks must have the same length. */
function blockIdOf(multipartId: string, number: number): string {
  return Buffer.from(`${multipartId}-${String(number).padStart(5, '0')}`).toString('base64')
}

const isMissing = (error: unknown): boolean => isBucketError(error) && error.code === 'BlobNotFound'

function etagOf({ headers }: Awaited<ReturnType<CallBucket>>, operation: string): string {
  if (headers.etag) return headers.etag
  throw badResponse(operation)
}
