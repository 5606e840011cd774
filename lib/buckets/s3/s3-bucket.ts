import type { FileObject, ObjectStorage } from '#drizzle/schema/index.ts'
import { crc32FromBase64, crc32ToBase64 } from '../../platform/kernel/crc32.ts'
import { BucketError, badResponse, isBucketError, tag } from '../bucket-error.ts'
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
import { encodePath } from '../encode-address.ts'
import { findExisting } from '../find-existing.ts'
import type { Capabilities } from '../providers.ts'
import { checksumHeaders, objectHeaders } from './request-headers.ts'
import { completeBody, listPage } from './xml-bodies.ts'

/** `repeated`: the request was sent before, perhaps by another process, and its outcome is unknown. */
type WriteOptions = Options & { repeated?: boolean }

/** CompleteMultipartUpload may take minutes, during which S3 sends whitespace and other providers send nothing. */
const ASSEMBLE_SILENCE_MS = 600_000

/**
 * The bucket operations that uploads use. The four that `s3:PutObject` allows come first. The others serve cleanup,
 * concatenation, repairs and finding out whether an object exists, and Sluice works without them if the credentials do
 * not allow them. Bodies are lists of chunks that the caller keeps until the response, because a retry sends them
 * again. An operation that fails throws a `BucketError`.
 */
export class S3Bucket {
  readonly #place: BucketPlace
  readonly #call: CallBucket
  readonly capabilities: Capabilities

  constructor(place: BucketPlace, capabilities: Capabilities, call: CallBucket) {
    this.#place = place
    this.#call = call
    this.capabilities = capabilities
  }

  get #withCrc32(): boolean {
    return this.capabilities.bodyChecksum === 'crc32'
  }

  get #crcOfWhole(): boolean {
    return this.#withCrc32 && this.capabilities.fullObjectCrc32
  }

  /**
   * The same bucket, for a multipart upload that includes copied parts. Where such an upload cannot have checksums,
   * the few parts that are sent have a Content-MD5, because Object Lock requires one of the two.
   */
  forCopies(): S3Bucket {
    if (this.capabilities.checksumsWithCopies) return this
    const bodyChecksum = this.capabilities.bodyChecksum && 'md5'
    return this.assuming({ ...this.capabilities, bodyChecksum })
  }

  /** The same bucket, with different assumptions about what it supports. */
  assuming(capabilities: Capabilities): S3Bucket {
    return new S3Bucket(this.#place, capabilities, this.#call)
  }

  /** Settings that objects get from this bucket in addition to their own. */
  storageOf(object: FileObject | null): ObjectStorage | null {
    return storageOf(this.#place, object)
  }

  /**
   * `etag` is null if the object already existed and cannot be looked up. The key contains the file's id, so only Sluice
   * can have created it; but if the credentials allow it, the bucket's word is checked.
   */
  async putObject(
    target: Target,
    body: Body,
    options: WriteOptions = {},
  ): Promise<{ etag: string | null; isFound?: boolean }> {
    const { signal, repeated = false } = options
    const headers = {
      ...objectHeaders(this.#place, target),
      ...checksumHeaders(this.capabilities, body),
      ...(this.capabilities.ifNoneMatch && { 'if-none-match': '*' }),
    }
    const { chunks, bytes } = body
    try {
      const response = await this.#call({
        operation: 'PutObject',
        method: 'PUT',
        key: target.key,
        headers,
        body: chunks,
        bytes,
        signal,
      })
      return { etag: wanted(header(response.headers.etag), 'PutObject') }
    } catch (error) {
      const existing = asExisting(error, this.capabilities, repeated)
      if (!existing) throw error
      if (!this.#place.mayRead) return { etag: null }
      const head = () => this.headObject(target.key, { signal })
      return findExisting(head, { key: target.key, bytes }, existing)
    }
  }

  async createMultipart(target: Target, { signal }: Options = {}): Promise<string> {
    const headers = {
      ...objectHeaders(this.#place, target),
      ...(this.#withCrc32 && { 'x-amz-checksum-algorithm': 'CRC32' }),
      ...(this.#crcOfWhole && { 'x-amz-checksum-type': 'FULL_OBJECT' }),
    }
    const response = await this.#call({
      operation: 'CreateMultipartUpload',
      method: 'POST',
      key: target.key,
      query: { uploads: '' },
      headers,
      signal,
    })
    return wanted(tag(response.body.toString('utf8'), 'UploadId'), 'CreateMultipartUpload')
  }

  async uploadPart(
    { key, multipartId, number }: Upload & { number: number },
    body: Body,
    { signal }: Options = {},
  ): Promise<{ etag: string }> {
    const response = await this.#call({
      operation: 'UploadPart',
      method: 'PUT',
      key,
      signal,
      part: number,
      query: { partNumber: String(number), uploadId: multipartId },
      headers: checksumHeaders(this.capabilities, body),
      body: body.chunks,
      bytes: body.bytes,
    })
    return { etag: wanted(header(response.headers.etag), 'UploadPart') }
  }

  /**
   * It is safe to repeat this: `no_such_upload` or `exists` after an earlier attempt means that the earlier attempt
   * succeeded.
   */
  async completeMultipart(
    { key, multipartId }: Upload,
    object: { parts: readonly NamedPart[]; bytes: number; crc32: number },
    { signal, repeated = false }: WriteOptions = {},
  ): Promise<{ etag: string | null }> {
    const xml = completeBody(object.parts, this.#withCrc32)
    try {
      const response = await this.#call({
        operation: 'CompleteMultipartUpload',
        method: 'POST',
        key,
        signal,
        query: { uploadId: multipartId },
        headers: {
          'content-type': 'application/xml',
          ...(this.capabilities.ifNoneMatchOnComplete && { 'if-none-match': '*' }),
          ...(this.#crcOfWhole && {
            'x-amz-checksum-crc32': crc32ToBase64(object.crc32),
            'x-amz-checksum-type': 'FULL_OBJECT',
            'x-amz-mp-object-size': String(object.bytes),
          }),
        },
        body: [xml],
        bytes: xml.length,
        signBody: true,
        silenceMs: ASSEMBLE_SILENCE_MS,
        isValid: (text) => /<CompleteMultipartUploadResult[\s>]/.test(text),
      })
      return { etag: tag(response.body.toString('utf8'), 'ETag') ?? null }
    } catch (error) {
      throw asExisting(error, this.capabilities, repeated) ?? error
    }
  }

  /** An upload that does not exist counts as aborted. */
  async abortMultipart({ key, multipartId }: Upload, { signal }: Options = {}): Promise<void> {
    const query = { uploadId: multipartId }
    try {
      await this.#call({ operation: 'AbortMultipartUpload', method: 'DELETE', key, query, signal })
    } catch (error) {
      if (!isBucketError(error) || error.kind !== 'no_such_upload') throw error
    }
  }

  /**
   * Undefined if there is no object. If the credentials do not allow listing the bucket, S3 returns 403 for a missing
   * object, so a refusal does not show whether the object exists.
   */
  async headObject(key: string, { signal }: Options = {}) {
    try {
      const { headers } = await this.#call({ operation: 'HeadObject', method: 'HEAD', key, signal })
      return {
        bytes: Number(headers['content-length']),
        etag: wanted(header(headers.etag), 'HeadObject'),
      }
    } catch (error) {
      if (isBucketError(error) && error.told?.status === 404) return undefined
      throw error
    }
  }

  listPage(prefix: string, from: string | null, { signal }: Options = {}): Promise<ListedPage> {
    return listPage(this.#call, { prefix, from, signal })
  }

  async readRange(key: string, first: number, bytes: number, { signal }: Options = {}): Promise<Buffer> {
    const headers = { range: rangeOf({ first, bytes }) }
    const { body } = await this.#call({
      operation: 'GetObject',
      method: 'GET',
      key,
      headers,
      signal,
      wantedBytes: bytes,
    })
    if (body.length !== bytes) throw new BucketError('impossible', 'ShortRead', `${key} has changed.`)
    return body
  }

  async copyPart(
    { key, multipartId, number }: Upload & { number: number },
    source: { key: string; range: { first: number; bytes: number } | null },
    { signal }: Options = {},
  ): Promise<{ etag: string; crc32: number | null }> {
    const response = await this.#call({
      operation: 'UploadPartCopy',
      method: 'PUT',
      key,
      signal,
      part: number,
      query: { partNumber: String(number), uploadId: multipartId },
      headers: {
        'x-amz-copy-source': encodePath(`/${this.#place.bucket}/${source.key}`),
        ...(source.range && { 'x-amz-copy-source-range': rangeOf(source.range) }),
      },
      silenceMs: ASSEMBLE_SILENCE_MS,
    })
    const xml = response.body.toString('utf8')
    const crc32 = crc32FromBase64(tag(xml, 'ChecksumCRC32') ?? '') ?? null
    return { etag: wanted(tag(xml, 'ETag'), 'UploadPartCopy'), crc32 }
  }

  async deleteObject(key: string, { signal }: Options = {}): Promise<void> {
    await this.#call({ operation: 'DeleteObject', method: 'DELETE', key, signal })
  }
}

const rangeOf = ({ first, bytes }: { first: number; bytes: number }): string =>
  `bytes=${first}-${first + bytes - 1}`

function header(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function wanted(value: string | null | undefined, operation: string): string {
  if (value) return value
  throw badResponse(operation)
}

/** The permission that Google Cloud Storage requires to replace an object, in addition to creating it. */
const REPLACING = 'storage.objects.delete'

/**
 * Returns the error as `exists` if there already is an object with this key; otherwise undefined. Credentials that may
 * create objects but not replace them get a 403 that names the missing permission. A 403 that names none counts as
 * `exists` only for a repeated write: without permission to create objects, the first write would also have been
 * denied.
 */
function asExisting(
  error: unknown,
  { deniesReplacing }: Pick<Capabilities, 'deniesReplacing'>,
  repeated: boolean,
): BucketError | undefined {
  if (!isBucketError(error)) return undefined
  if (error.kind === 'exists') return error
  if (!deniesReplacing || error.code !== 'AccessDenied') return undefined
  const details = error.told?.details
  const denied = details ? details.includes(REPLACING) : repeated || error.attempts > 1
  if (!denied) return undefined
  const existing = new BucketError('exists', error.code, error.message, { cause: error, told: error.told })
  existing.attempts = error.attempts
  return existing
}
