import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { crc32FromBase64, crc32ToBase64 } from '#lib/platform/kernel/crc32.ts'
import { chooseParts, readNamedParts } from '#packages/local-bucket/choose-parts.ts'
import type { ChecksumType } from '#packages/local-bucket/object-metadata.ts'
import { S3Error, type S3ErrorCode } from '#packages/local-bucket/s3-error.ts'
import { writeXml } from '#packages/local-bucket/xml.ts'

export type BucketRequest = {
  method: string
  bucket: string
  key: string
  query: URLSearchParams
  headers: Record<string, string>
  body: Buffer
}
export type BucketAnswer = { status: number; headers: Record<string, string>; body: Buffer }

type Stored = { bytes: Buffer; etag: string }
type Part = Stored & { crc32: number }
type Multipart = { key: string; checksumType: ChecksumType | undefined; parts: Map<number, Part> }

export type BucketRules = {
  /** The credentials also allow reading, aborting and deleting. */
  mayRead: boolean
  /** A repeated Complete gets its first response again, instead of NoSuchUpload. */
  remembersCompletions: boolean
  /** The bucket always rejects this operation, with this code. */
  refuses: { operation: string; code: S3ErrorCode } | undefined
}

const MAX_PARTS = 10_000
/** A range cannot be copied from a smaller object: 5 MB, scaled for the simulation. */
const MAX_COPIED_WHOLE_BYTES = 5000

/** The operations that `s3:PutObject` permits. */
export const PUTTING = ['PutObject', 'CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload']
/** The operation may be permitted later, or never. */
export const REFUSALS: readonly S3ErrorCode[] = ['AccessDenied', 'NotImplemented']

/** A bucket in memory, with AWS rules. Its requests are atomic: the network decides what happens between them. */
export class SimulatedBucket {
  readonly objects = new Map<string, Stored>()
  readonly multiparts = new Map<string, Multipart>()
  get mayAbort(): boolean {
    return this.#rules.mayRead
  }
  readonly #completed = new Map<string, { key: string; etag: string }>()
  readonly #name: string
  readonly #rules: BucketRules
  #made = 0

  constructor(name: string, rules: BucketRules) {
    this.#name = name
    this.#rules = rules
  }

  handle(request: BucketRequest): BucketAnswer {
    try {
      const operation = operationOf(request)
      const { mayRead, refuses } = this.#rules
      if (operation === refuses?.operation) throw new S3Error(refuses.code)
      if (!mayRead && !PUTTING.includes(operation)) throw new S3Error('AccessDenied')
      return this.#perform(operation, request)
    } catch (error) {
      if (!(error instanceof S3Error)) throw error
      return refusal(error.status, error.code, error.message)
    }
  }

  #perform(operation: string, request: BucketRequest): BucketAnswer {
    const { key } = request
    switch (operation) {
      case 'PutObject':
        return this.#putObject(request)
      case 'CreateMultipartUpload':
        return this.#create(request)
      case 'UploadPart':
        return this.#uploadPart(request)
      case 'UploadPartCopy':
        return this.#copyPart(request)
      case 'CompleteMultipartUpload':
        return this.#complete(request)
      case 'AbortMultipartUpload':
        this.#multipart(request)
        this.multiparts.delete(request.query.get('uploadId')!)
        return { status: 204, headers: {}, body: Buffer.alloc(0) }
      case 'HeadObject':
      case 'GetObject':
        return this.#read(request)
      default:
        this.objects.delete(key)
        return { status: 204, headers: {}, body: Buffer.alloc(0) }
    }
  }

  #putObject(request: BucketRequest): BucketAnswer {
    this.#assertMayMake(request)
    const { bytes, etag } = this.#checked(request)
    this.objects.set(request.key, { bytes, etag })
    return { status: 200, headers: { etag: `"${etag}"` }, body: Buffer.alloc(0) }
  }

  #create({ key, headers }: BucketRequest): BucketAnswer {
    const id = `multipart-${++this.#made}-of-${this.#name}`
    const type = headers['x-amz-checksum-type'] ?? (headers['x-amz-checksum-algorithm'] && 'COMPOSITE')
    this.multiparts.set(id, { key, checksumType: type as ChecksumType | undefined, parts: new Map() })
    return xml(['InitiateMultipartUploadResult', [['UploadId', id]]])
  }

  #uploadPart(request: BucketRequest): BucketAnswer {
    const upload = this.#multipart(request)
    const part = this.#checked(request)
    upload.parts.set(numberOf(request), part)
    return { status: 200, headers: { etag: `"${part.etag}"` }, body: Buffer.alloc(0) }
  }

  #copyPart(request: BucketRequest): BucketAnswer {
    const upload = this.#multipart(request)
    const [, , ...key] = request.headers['x-amz-copy-source']!.split('/')
    const source = this.objects.get(decodeURIComponent(key.join('/')))
    if (!source) throw new S3Error('NoSuchKey')
    const range = request.headers['x-amz-copy-source-range']
    if (range !== undefined && source.bytes.length <= MAX_COPIED_WHOLE_BYTES)
      throw new S3Error('InvalidRequest')
    const part = this.#measured(ranged(source.bytes, range))
    upload.parts.set(numberOf(request), part)
    const checksum = ['ChecksumCRC32', crc32ToBase64(part.crc32)] as const
    return xml([
      'CopyPartResult',
      [['ETag', `"${part.etag}"`], upload.checksumType ? [...checksum] : undefined],
    ])
  }

  #complete(request: BucketRequest): BucketAnswer {
    const id = request.query.get('uploadId')!
    const before = this.#completed.get(id)
    if (before?.key === request.key && this.#rules.remembersCompletions) return completed(before.etag)
    const upload = this.#multipart(request)
    this.#assertMayMake(request)
    const stored = [...upload.parts].map(([number, { bytes, etag: md5, crc32: crc }]) => ({
      number,
      size: bytes.length,
      md5,
      crc32: crc,
      path: '',
      lastModifiedMs: 0,
    }))
    const chosen = chooseParts(readNamedParts(String(request.body)), stored, upload.checksumType)
    const bytes = Buffer.concat(chosen.map(({ number }) => upload.parts.get(number)!.bytes))
    const { headers } = request
    const declared = headers['x-amz-checksum-crc32']
    if (declared !== undefined && crc32FromBase64(declared) !== crc32(bytes)) throw new S3Error('BadDigest')
    const size = headers['x-amz-mp-object-size']
    if (size !== undefined && Number(size) !== bytes.length) throw new S3Error('InvalidRequest')
    const etag = `${this.#measured(bytes).etag}-${chosen.length}`
    this.objects.set(request.key, { bytes, etag })
    this.multiparts.delete(id)
    this.#completed.set(id, { key: request.key, etag })
    return completed(etag)
  }

  #read({ key, method, headers }: BucketRequest): BucketAnswer {
    const object = this.objects.get(key)
    if (!object) throw new S3Error('NoSuchKey')
    const bytes = ranged(object.bytes, headers.range)
    const answer = { 'content-length': String(bytes.length), etag: `"${object.etag}"` }
    return { status: 200, headers: answer, body: method === 'HEAD' ? Buffer.alloc(0) : bytes }
  }

  #assertMayMake({ key, headers }: BucketRequest): void {
    if (headers['if-none-match'] === '*' && this.objects.has(key)) throw new S3Error('PreconditionFailed')
  }

  #checked({ body, headers }: BucketRequest): Part {
    const part = this.#measured(body)
    const declared = headers['x-amz-checksum-crc32']
    if (declared !== undefined && crc32FromBase64(declared) !== part.crc32) throw new S3Error('BadDigest')
    return part
  }

  /** The same bytes have a different ETag in each bucket, as if each had its own encryption key. */
  #measured(bytes: Buffer): Part {
    const etag = createHash('md5').update(this.#name).update(bytes).digest('hex')
    return { bytes, etag, crc32: crc32(bytes) }
  }

  #multipart({ key, query }: BucketRequest): Multipart {
    const upload = this.multiparts.get(query.get('uploadId') ?? '')
    if (upload?.key !== key) throw new S3Error('NoSuchUpload')
    return upload
  }
}

export function operationOf({ method, query, headers }: BucketRequest): string {
  const isPart = query.has('partNumber')
  if (method === 'PUT' && isPart)
    return headers['x-amz-copy-source'] === undefined ? 'UploadPart' : 'UploadPartCopy'
  if (method === 'POST') return query.has('uploads') ? 'CreateMultipartUpload' : 'CompleteMultipartUpload'
  if (method === 'DELETE') return query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject'
  return { PUT: 'PutObject', HEAD: 'HeadObject', GET: 'GetObject' }[method] ?? method
}

export function refusal(status: number, code: string, message: string): BucketAnswer {
  const error = xml([
    'Error',
    [
      ['Code', code],
      ['Message', message],
    ],
  ])
  return { ...error, status }
}

function completed(etag: string): BucketAnswer {
  return xml(['CompleteMultipartUploadResult', [['ETag', `"${etag}"`]]])
}

function xml(root: Parameters<typeof writeXml>[0]): BucketAnswer {
  return { status: 200, headers: {}, body: Buffer.from(writeXml(root)) }
}

function numberOf({ query }: BucketRequest): number {
  const number = Number(query.get('partNumber'))
  if (!Number.isInteger(number) || number < 1 || number > MAX_PARTS) throw new S3Error('InvalidArgument')
  return number
}

function ranged(bytes: Buffer, range: string | undefined): Buffer {
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(range ?? '') ?? []
  return first === undefined ? bytes : bytes.subarray(Number(first), Number(last) + 1)
}
