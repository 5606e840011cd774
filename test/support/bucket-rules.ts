import { hours } from '#lib/platform/kernel/clock.ts'
import type { Answer } from '#packages/local-bucket/answer.ts'
import type { Call } from '#packages/local-bucket/call.ts'
import type { NamedPart } from '#packages/local-bucket/choose-parts.ts'
import { type Operation, readCopySource, type S3Request } from '#packages/local-bucket/request.ts'
import { S3Error } from '#packages/local-bucket/s3-error.ts'
import type { Upload } from '#packages/local-bucket/upload-files.ts'

/**
 * A difference between a provider and S3 in general, such as a request that the provider refuses. A bucket follows the
 * enabled rules, so a test can simulate any provider's bucket. `docs/providers.md` lists the source of each rule.
 */
export type Rule = {
  /** Refuses an authenticated and authorized request before its body is read. */
  admit?(call: Call): void | Promise<void>
  /** Unknown headers, which this provider ignores. */
  ignores?: readonly string[]
  /** Refuses the parts named by Complete. */
  assemble?(parts: readonly NamedPart[], upload: Upload): void
  /** How the provider words errors that this bucket words differently. */
  rephrase?(error: S3Error, request: S3Request): S3Error
  /** Responds in place of the bucket, which then does not process the request. */
  instead?(): Answer
  /** Replaces the response. */
  answer?(answer: Answer, request: S3Request): Answer
}

const MAX_COPY_RANGE_SOURCE_BYTES = 5 * 2 ** 20
const MAX_SEGMENT_BYTES = 255
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const QUOTED = String.raw`"(?:[\t !#-\[\]-~]|\\[\t -~])*"`
/** RFC 9110, 8.3.1. */
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))*$`)

export const RULES = {
  /** GCS: `objectCreator` does not include storage.objects.delete, which is required to replace an object. */
  'no-overwrite': {
    async admit(call) {
      if (!makesObject(call) || !(await call.storage.objects.find(call.request.key))) return
      const Details =
        'sluice@project.iam.gserviceaccount.com does not have storage.objects.delete access to the Google Cloud Storage object.'
      throw new S3Error('AccessDenied', 'Access denied.', { Details })
    },
  },
  /** GCS and R2: one write per second for each key. */
  'one-write-a-second': {
    async admit(call) {
      const before = makesObject(call) && (await call.storage.objects.find(call.request.key))
      if (before && call.clock.now() - before.lastModifiedMs < 1000) throw new S3Error('TooManyRequests')
    },
  },
  /** MinIO: `stale_uploads_expiry`, counted from the start of the upload. */
  'drops-uploads-after-24-hours': {
    async admit(call) {
      const upload = await uploadOf(call)
      if (!upload || call.clock.now() - upload.initiatedMs < hours(24)) return
      await call.storage.uploads.abort(upload.id)
      throw new S3Error('NoSuchUpload')
    },
  },
  /** AWS: a range is only copied from an object of more than 5 MB. */
  'minimum-copy-source': {
    async admit({ request, storageOf }) {
      if (request.operation !== 'UploadPartCopy' || !request.headers['x-amz-copy-source-range']) return
      const { bucket, key } = readCopySource(request.headers['x-amz-copy-source']!)
      const source = await storageOf(bucket).objects.find(key)
      if (source && source.size <= MAX_COPY_RANGE_SOURCE_BYTES)
        throw new S3Error(
          'InvalidRequest',
          'The specified copy source is not supported as a byte-range copy source',
        )
    },
  },
  /** GCS, and formerly Storj: no UploadPartCopy. */
  'no-part-copy': {
    admit({ request }) {
      if (request.operation === 'UploadPartCopy') throw new S3Error('NotImplemented')
    },
  },
  /** MinIO: a copied part has no checksum, and an upload with checksums requires one for every part. */
  'no-copy-into-checksums': {
    async admit(call) {
      if (call.request.operation !== 'UploadPartCopy' || !(await uploadOf(call))?.checksumType) return
      throw new S3Error('InvalidArgument', 'checksum missing, want "CRC32", got ""')
    },
  },
  /** MinIO before February 2025: interprets a checksum on Complete as the checksum of the checksums. */
  'no-full-object-checksum': {
    ignores: ['x-amz-checksum-type', 'x-amz-mp-object-size'],
    rephrase: (error, { operation }) =>
      operation === 'CompleteMultipartUpload' && error.code === 'BadDigest'
        ? new S3Error('XAmzContentChecksumMismatch')
        : error,
  },
  /** AWS and others: a bucket whose Object Lock has a default retention. */
  'checksum-required': {
    admit({ request }) {
      if (carriesBody(request) && !Object.keys(request.headers).some(isChecksum))
        throw new S3Error(
          'InvalidRequest',
          'Content-MD5 OR x-amz-checksum- HTTP header is required for Put Object requests with Object Lock parameters',
        )
    },
  },
  /** Object Lock in older S3 servers. */
  'content-md5-required': {
    admit({ request }) {
      if (carriesBody(request) && !request.headers['content-md5'])
        throw new S3Error(
          'InvalidRequest',
          'Content-MD5 HTTP header is required for Put Object requests with Object Lock parameters',
        )
    },
  },
  /**
   * moto: refuses with a code that S3 does not have. It does not support the x-amz-checksum- headers, only the header
   * that the SDKs send along with them.
   */
  'md5-or-sdk-header-required': {
    admit({ request }) {
      const { headers } = request
      if (carriesBody(request) && !headers['content-md5'] && !headers['x-amz-sdk-checksum-algorithm'])
        throw new S3Error('MissingUploadObjectWithObjectLockHeaders')
    },
  },
  /** B2, and other providers that do not support the checksum headers that S3 added in 2022. */
  'no-checksum-headers': {
    admit({ request }) {
      const unknown = Object.keys(request.headers).find((name) => name.startsWith('x-amz-checksum-'))
      if (unknown)
        throw new S3Error('InvalidArgument', `Unsupported header '${unknown}' received for this API call.`)
    },
  },
  /** AWS: a bucket policy with the condition key s3:if-none-match. */
  'if-none-match-required': {
    async admit(call) {
      if (!makesObject(call)) return
      if (!call.request.headers['if-none-match']) throw new S3Error('AccessDenied')
      // A repeated Complete also fails, because it finds the object that the first one created.
      if (await call.storage.objects.find(call.request.key)) throw new S3Error('PreconditionFailed')
    },
  },
  /** B2, GCS: no If-None-Match on a write. */
  'no-if-none-match': {
    admit(call) {
      if (makesObject(call) && call.request.headers['if-none-match'])
        throw new S3Error(
          'NotImplemented',
          'A header you provided implies functionality that is not implemented.',
        )
    },
  },
  /** AWS: a bucket policy with the condition key s3:x-amz-content-sha256. */
  'no-unsigned-payload': {
    admit({ request }) {
      if (request.headers['x-amz-content-sha256'] === 'UNSIGNED-PAYLOAD') throw new S3Error('AccessDenied')
    },
  },
  /** All providers with https: a certificate covers one label before the host, and host names have no capitals. */
  'virtual-hosts-are-dns-labels': {
    admit({ request }) {
      const [, bucket] = /^(.+)\.localhost(?::\d+)?$/.exec(request.headers.host ?? '') ?? []
      if (bucket && !DNS_LABEL.test(bucket)) throw new S3Error('InvalidBucketName')
    },
  },
  /** AWS: each region has its own host names, whose suffix depends on the region's partition. */
  'hosts-of-aws': {
    admit({ request }) {
      const [, region = ''] =
        /Credential=[^/]+\/\d+\/([^/]+)\//.exec(request.headers.authorization ?? '') ?? []
      const host = (request.headers.host ?? '').replace(/:\d+$/, '')
      if (!hostsOfAws(region).test(host)) throw new S3Error('PermanentRedirect')
    },
  },
  /** All providers: a Content-Type must follow the grammar of that header. */
  'well-formed-media-types': {
    admit({ request }) {
      const type = request.headers['content-type']
      if (type !== undefined && !MEDIA_TYPE.test(type)) throw new S3Error('InvalidArgument')
    },
  },
  /** MinIO, and every S3 server that stores objects as files. */
  'short-segments': {
    admit({ request }) {
      if (request.key.split('/').some((segment) => Buffer.byteLength(segment) > MAX_SEGMENT_BYTES))
        throw new S3Error('KeyTooLongError')
    },
  },
  /** AWS, in directory buckets: part numbers must be consecutive from 1, whether or not parts have checksums. */
  'consecutive-part-numbers': {
    assemble(parts) {
      if (parts.some(({ number }, n) => number !== n + 1)) throw new S3Error('InvalidPartOrder')
    },
  },
  /** R2: all parts but the last have the same size, and the last is not larger. */
  'equal-parts': {
    async admit(call) {
      const upload = await uploadOf(call)
      if (!upload || call.request.operation !== 'CompleteMultipartUpload') return
      const parts = (await call.storage.uploads.parts(upload.id)).toSorted((a, b) => a.number - b.number)
      const [first, last] = [parts[0]!, parts.at(-1)!]
      if (last.size > first.size || parts.slice(0, -1).some(({ size }) => size !== first.size))
        throw new S3Error('InvalidPart', 'All non-trailing parts must have the same length.')
    },
  },
  /** A proxy in front of the provider that responds with its own page. */
  'html-answers': {
    instead: () => ({
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: '<!doctype html><title>Sign in</title>',
    }),
  },
  /** A response to Complete with status 200 that ends before its result. */
  'complete-without-result': {
    answer: (answer, { operation }) =>
      operation === 'CompleteMultipartUpload' && answer.status === 200
        ? { ...answer, body: '<?xml version="1.0" encoding="UTF-8"?>\n' }
        : answer,
  },
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof RULES

/** The enabled rules, in the order of the table. */
export function rulesOf(names: ReadonlySet<RuleName>): Rule[] {
  return Object.entries(RULES)
    .filter(([name]) => names.has(name as RuleName))
    .map(([, rule]) => rule)
}

function makesObject({ request }: Call): boolean {
  return request.operation === 'PutObject' || request.operation === 'CompleteMultipartUpload'
}

/** https://docs.aws.amazon.com/general/latest/gr/s3.html */
function hostsOfAws(region: string): RegExp {
  const suffix = region.startsWith('cn-') ? 'com.cn' : region.startsWith('eusc-') ? 'eu' : 'com'
  const regional = `s3(-fips)?(\\.dualstack)?\\.${region}`
  const others =
    suffix === 'com' ? `|s3-${region}|s3-accelerate(\\.dualstack)?${region === 'us-east-1' ? '|s3' : ''}` : ''
  return new RegExp(`^([a-z0-9.-]+\\.)?(${regional}${others})\\.amazonaws\\.${suffix.replace('.', '\\.')}$`)
}

const BODIES: readonly Operation[] = ['PutObject', 'UploadPart']
const carriesBody = ({ operation }: S3Request): boolean => BODIES.includes(operation)

const isChecksum = (header: string): boolean =>
  header === 'content-md5' || header.startsWith('x-amz-checksum-')

async function uploadOf({ request, storage }: Call): Promise<Upload | undefined> {
  const id = request.query.get('uploadId')
  return id ? storage.uploads.find(id, request.key) : undefined
}
