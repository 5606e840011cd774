import { crc32FromBase64, crc32ToBase64 } from '../kernel/crc32.ts'
import { BucketError, isBucketError, tag } from './bucket-error.ts'
import { type BucketPlace, objectHeaders } from './bucket-place.ts'
import { type BucketDeps, createCaller } from './call-bucket.ts'
import { completeBody, type NamedPart } from './complete-body.ts'
import { type Credentials, encodePath } from './sign-request.ts'

/**
 * A bucket as uploads use it. The four operations that `s3:PutObject` allows come first; nothing of Sluice needs the
 * others, which are for clean-up and concatenation where the credentials may. Bodies are lists of chunks, kept by
 * the caller until the answer: a retry sends them again. Each throws a `BucketError`.
 */
export type Body = { chunks: readonly Uint8Array[]; bytes: number; crc32: number }
type Options = { signal?: AbortSignal | undefined }
type Target = { key: string; contentType: string }
type Upload = { key: string; multipartId: string }

/** CompleteMultipartUpload may take minutes, in which S3 sends white space and others send nothing. */
const ASSEMBLE_SILENCE_MS = 600_000

export type Bucket = ReturnType<typeof openBucket>

export function openBucket(place: BucketPlace, credentials: Credentials, deps: BucketDeps) {
  const call = createCaller(place, credentials, deps)
  const { capabilities } = place
  return {
    capabilities,

    /** `etag` is null where the object was there already: its key holds the file's id, so it is our own. */
    async putObject(target: Target, body: Body, { signal }: Options = {}): Promise<{ etag: string | null }> {
      const headers = {
        ...objectHeaders(place, target.contentType),
        ...checksum(capabilities.partChecksum, body.crc32),
        ...(capabilities.ifNoneMatch && { 'if-none-match': '*' }),
      }
      const { chunks, bytes } = body
      try {
        const answer = await call({
          ...{ operation: 'PutObject', method: 'PUT', key: target.key, headers },
          ...{ body: chunks, bytes, signal },
        })
        return { etag: header(answer.headers.etag) }
      } catch (error) {
        if (isBucketError(error) && error.kind === 'exists') return { etag: null }
        throw error
      }
    },

    async createMultipart(target: Target, { signal }: Options = {}): Promise<string> {
      const headers = {
        ...objectHeaders(place, target.contentType),
        ...(capabilities.partChecksum && { 'x-amz-checksum-algorithm': 'CRC32' }),
        ...(capabilities.fullObjectCrc32 && { 'x-amz-checksum-type': 'FULL_OBJECT' }),
      }
      const answer = await call({
        ...{ operation: 'CreateMultipartUpload', method: 'POST', key: target.key },
        ...{ query: { uploads: '' }, headers, signal },
      })
      return wanted(tag(answer.body.toString('utf8'), 'UploadId'), 'CreateMultipartUpload')
    },

    async uploadPart(
      { key, multipartId, number }: Upload & { number: number },
      body: Body,
      { signal }: Options = {},
    ): Promise<{ etag: string }> {
      const answer = await call({
        ...{ operation: 'UploadPart', method: 'PUT', key, signal },
        query: { partNumber: String(number), uploadId: multipartId },
        headers: checksum(capabilities.partChecksum, body.crc32),
        ...{ body: body.chunks, bytes: body.bytes },
      })
      return { etag: wanted(header(answer.headers.etag), 'UploadPart') }
    },

    /** Safe to repeat; `no_such_upload` after an earlier sending means that it happened. */
    async completeMultipart(
      { key, multipartId }: Upload,
      object: { parts: readonly NamedPart[]; bytes: number; crc32: number },
      { signal }: Options = {},
    ): Promise<{ etag: string | null }> {
      const xml = completeBody(object.parts, capabilities.partChecksum)
      const answer = await call({
        ...{ operation: 'CompleteMultipartUpload', method: 'POST', key, signal },
        query: { uploadId: multipartId },
        headers: {
          'content-type': 'application/xml',
          ...(capabilities.fullObjectCrc32 && {
            'x-amz-checksum-crc32': crc32ToBase64(object.crc32),
            'x-amz-checksum-type': 'FULL_OBJECT',
            'x-amz-mp-object-size': String(object.bytes),
          }),
        },
        ...{ body: [xml], bytes: xml.length, signBody: true, silenceMs: ASSEMBLE_SILENCE_MS },
      })
      return { etag: tag(answer.body.toString('utf8'), 'ETag') ?? null }
    },

    /** An upload that is not there any more counts as aborted. */
    async abortMultipart({ key, multipartId }: Upload, { signal }: Options = {}): Promise<void> {
      const query = { uploadId: multipartId }
      try {
        await call({ operation: 'AbortMultipartUpload', method: 'DELETE', key, query, signal })
      } catch (error) {
        if (!isBucketError(error) || error.kind !== 'no_such_upload') throw error
      }
    },

    async headObject(key: string, { signal }: Options = {}) {
      try {
        const { headers } = await call({ operation: 'HeadObject', method: 'HEAD', key, signal })
        return { bytes: Number(headers['content-length']), etag: header(headers.etag) }
      } catch (error) {
        if (isBucketError(error) && (error.code === 'HTTP 404' || error.code === 'NoSuchKey'))
          return undefined
        throw error
      }
    },

    async readRange(key: string, first: number, bytes: number, { signal }: Options = {}): Promise<Buffer> {
      const headers = { range: `bytes=${first}-${first + bytes - 1}` }
      const { body } = await call({
        ...{ operation: 'GetObject', method: 'GET', key, headers, signal },
        wantedBytes: bytes,
      })
      if (body.length !== bytes) throw new BucketError('impossible', 'ShortRead', `${key} has changed.`)
      return body
    },

    async copyPart(
      { key, multipartId, number }: Upload & { number: number },
      source: { key: string; first: number; bytes: number },
      { signal }: Options = {},
    ): Promise<{ etag: string; crc32: number | null }> {
      const answer = await call({
        ...{ operation: 'UploadPartCopy', method: 'PUT', key, signal },
        query: { partNumber: String(number), uploadId: multipartId },
        headers: {
          'x-amz-copy-source': encodePath(`/${place.bucket}/${source.key}`),
          'x-amz-copy-source-range': `bytes=${source.first}-${source.first + source.bytes - 1}`,
        },
        silenceMs: ASSEMBLE_SILENCE_MS,
      })
      const xml = answer.body.toString('utf8')
      const crc32 = crc32FromBase64(tag(xml, 'ChecksumCRC32') ?? '') ?? null
      return { etag: wanted(tag(xml, 'ETag'), 'UploadPartCopy'), crc32 }
    },

    async deleteObject(key: string, { signal }: Options = {}): Promise<void> {
      await call({ operation: 'DeleteObject', method: 'DELETE', key, signal })
    },
  }
}

function checksum(taken: boolean, crc32: number): Record<string, string> {
  return taken ? { 'x-amz-checksum-crc32': crc32ToBase64(crc32) } : {}
}

function header(value: string | string[] | undefined): string | null {
  return typeof value === 'string' ? value : null
}

function wanted(value: string | null | undefined, operation: string): string {
  if (value) return value
  throw new BucketError('trouble', 'BadAnswer', `The bucket's answer to ${operation} is not one of S3.`)
}
