import type { Answer } from './answer.ts'
import type { Call } from './call.ts'
import type { NamedPart } from './choose-parts.ts'
import type { Exchange } from './exchange.ts'
import type { S3Request } from './request.ts'
import type { Upload } from './upload-files.ts'

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
