import { pipeline, Readable, Transform } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import { SluiceError } from '../kernel/errors.ts'

/** S3 answers a check with a few hundred bytes. */
const MOST_BYTES = 64 * 1024

/** The SDK gathers an answer of any length in memory, and the endpoint is whatever a customer typed. */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next) => async (args) => {
      const result = await next(args)
      const response = result.response as { body?: unknown }
      if (response.body instanceof Readable) response.body = bounded(response.body)
      return result
    },
    // Next to the connection: everything else of the SDK reads what comes out here.
    { step: 'deserialize', priority: 'low', name: 'boundAnswers' },
  )
}

function bounded(body: Readable): Readable {
  let bytes = 0
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length
      done(bytes > MOST_BYTES ? tooLong() : null, chunk)
    },
  })
  // Errors reach the reader of `limit`; the body is destroyed with it.
  pipeline(body, limit, () => {})
  return limit
}

function tooLong(): SluiceError {
  return new SluiceError('bucket_refused', 'The answer of the endpoint is too long for one of S3.')
}
