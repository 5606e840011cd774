import type { Clock } from '../../lib/platform/kernel/clock.ts'
import type { Answer } from './answer.ts'
import type { NamedPart } from './choose-parts.ts'
import type { Exchange } from './exchange.ts'
import type { IncomingBody } from './incoming-body.ts'
import type { Action } from './key-ring.ts'
import type { S3Request } from './request.ts'
import { S3Error } from './s3-error.ts'
import type { BucketStorage } from './storage.ts'
import type { Upload } from './upload-files.ts'

/** An authenticated and authorized request for an existing bucket, as an operation gets it. */
export interface Call {
  request: S3Request
  body: IncomingBody
  storage: BucketStorage
  /** The storage of another bucket, such as the one that contains a copy's source. */
  storageOf(bucket: string): BucketStorage
  clock: Clock
  permits(action: Action): boolean
  interceptor: Interceptor | undefined
}

export type Perform = (call: Call) => Promise<Answer>

/** Clients that cannot list a bucket must not learn that a key is unused, so S3 returns 403 to them, not 404. */
export function missingKey({ permits, request }: Call): S3Error {
  return permits('s3:ListBucket')
    ? new S3Error('NoSuchKey', undefined, { Key: request.key })
    : new S3Error('AccessDenied')
}

/** Watches a bucket's requests, and changes what happens to them. Tests imitate providers and failures this way. */
export interface Interceptor {
  /** Processes a request by passing its body to `next`, or throws. */
  around(
    request: S3Request,
    exchange: Exchange,
    next: (body: AsyncIterable<Buffer>) => Promise<Answer>,
  ): Promise<Answer>
  /** Gets each authorized request before its body is read, and may refuse it, or respond in place of the bucket. */
  admit(call: Call): Promise<Answer | undefined>
  /** May refuse the parts named by Complete. */
  assemble(parts: readonly NamedPart[], upload: Upload): void
  /** `answer` is undefined if the connection was cut. `trouble` is an error inside the bucket. */
  ended(request: S3Request, answer: Answer | undefined, trouble: unknown): void
}
